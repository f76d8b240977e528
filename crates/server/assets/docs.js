// Shows /openapi.json. Everything is put into the page as text, never as markup.
"use strict";

const make = (name, text, of = {}) => Object.assign(document.createElement(name), of, text === undefined ? {} : { textContent: text });

const nameOf = (ref) => ref.split("/").pop();

// A schema in few words.
function words(schema) {
  if (schema === true || schema === undefined) return "anything";
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((v) => JSON.stringify(v)).join(" | ");
  const some = schema.anyOf ?? schema.oneOf;
  if (some) return some.map(words).join(" | ");
  if (schema.type === "array") return `${words(schema.items)}[]`;
  const type = Array.isArray(schema.type) ? schema.type.join(" | ") : schema.type ?? "object";
  return schema.format ? `${type} (${schema.format})` : type;
}

function table(rows) {
  const body = make("tbody");
  for (const cells of rows) {
    const row = make("tr");
    row.append(...cells.map((cell) => (typeof cell === "string" ? make("td", cell) : wrap(cell))));
    body.append(row);
  }
  const whole = make("table");
  whole.append(body);
  return whole;
}

function wrap(node) {
  const cell = make("td");
  cell.append(node);
  return cell;
}

// The properties of a schema, with a link to each schema it names.
function properties(schema, schemas) {
  const parts = [schema, ...(schema.allOf ?? [])].map((part) => (part.$ref ? schemas[nameOf(part.$ref)] : part));
  return parts.flatMap((part) =>
    Object.entries(part.properties ?? {}).map(([name, of]) => [
      make("code", name),
      words(of) + ((part.required ?? []).includes(name) ? "" : ", may be missing"),
      of.description ?? "",
    ]),
  );
}

function content(content, schemas) {
  const out = [];
  for (const [type, { schema }] of Object.entries(content ?? {})) {
    out.push(make("p", `${type}: ${words(schema)}`, { className: "quiet" }));
    const rows = properties(schema.$ref ? schemas[nameOf(schema.$ref)] : schema, schemas);
    if (rows.length > 0) out.push(table(rows));
  }
  return out;
}

function curl(method, path, operation) {
  const body = operation.requestBody?.content ?? {};
  const parts = ["curl"];
  if (method !== "get") parts.push("-X", method.toUpperCase());
  if (body["multipart/form-data"]) parts.push("-F file=@x.pdf");
  else if (body["application/json"]) parts.push("-H 'Content-Type: application/json' -d '{}'");
  parts.push(`'${location.origin}${path}'`);
  return parts.join(" ");
}

function route(method, path, operation, schemas) {
  const whole = make("details");
  const summary = make("summary");
  summary.append(make("span", method.toUpperCase(), { className: "method" }), make("code", path), ` ${operation.summary}`);
  const inside = make("div");
  inside.append(make("p", operation.description, { className: "quiet" }), make("pre", curl(method, path, operation)));
  if (operation.parameters) {
    inside.append(make("h3", "Parameters"));
    inside.append(
      table(operation.parameters.map((p) => [make("code", p.name), `${p.in}, ${words(p.schema)}${p.required ? ", needed" : ""}`, p.description ?? ""])),
    );
  }
  if (operation.requestBody) {
    inside.append(make("h3", "Body"), ...content(operation.requestBody.content, schemas));
  }
  for (const [status, answer] of Object.entries(operation.responses)) {
    if (status.endsWith("XX")) continue;
    inside.append(make("h3", `${status}: ${answer.description}`), ...content(answer.content, schemas));
  }
  whole.append(summary, inside);
  whole.dataset.find = `${method} ${path} ${operation.summary}`.toLowerCase();
  return whole;
}

async function show() {
  const api = await (await fetch("/openapi.json")).json();
  const schemas = api.components.schemas;
  document.getElementById("about").textContent = api.info.description;
  const groups = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags[0];
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(route(method, path, operation, schemas));
    }
  }
  const main = document.getElementById("routes");
  main.replaceChildren();
  for (const [tag, routes] of groups) {
    const section = make("section");
    section.append(make("h2", tag), ...routes);
    main.append(section);
  }
  const section = make("section");
  section.append(make("h2", "schemas"));
  for (const name of Object.keys(schemas).sort()) {
    const whole = make("details", undefined, { id: name });
    const rows = properties(schemas[name], schemas);
    whole.append(make("summary", name), rows.length > 0 ? table(rows) : make("p", words(schemas[name])));
    whole.dataset.find = name.toLowerCase();
    section.append(whole);
  }
  main.append(section);
  document.getElementById("find").addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase();
    for (const whole of main.querySelectorAll("details")) whole.hidden = !whole.dataset.find.includes(wanted);
  });
}

show().catch((error) => {
  document.getElementById("routes").replaceChildren(make("p", `The document cannot be shown: ${error}`));
});
