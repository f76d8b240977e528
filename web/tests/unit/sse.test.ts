import { describe, expect, it } from "vitest";
import { MessageReader, patience } from "../../src/api/sse";

describe("MessageReader", () => {
  it("gives a message once it is complete, however it was cut", () => {
    const whole = 'id: 7\nevent: DOCUMENT_ADDED\ndata: {"id":7}\n\n';
    for (let cut = 0; cut <= whole.length; cut++) {
      const reader = new MessageReader();
      const messages = [...reader.push(whole.slice(0, cut)), ...reader.push(whole.slice(cut))];
      expect(messages).toEqual([{ id: "7", event: "DOCUMENT_ADDED", data: '{"id":7}' }]);
    }
  });

  it("takes comments for signs of life only", () => {
    expect(new MessageReader().push(": still here\n\n")).toEqual([]);
  });

  it("keeps the id until another comes, joins lines of data, and reads CRLF", () => {
    const reader = new MessageReader();
    expect(reader.push("id: 1\r\ndata: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n")).toEqual([
      { id: "1", event: "message", data: "a\nb" },
      { id: "1", event: "message", data: "c" },
    ]);
  });
});

describe("patience", () => {
  it("grows and ends at ten seconds", () => {
    expect([0, 1, 2, 3, 100].map(patience)).toEqual([250, 500, 1000, 2000, 10_000]);
  });
});
