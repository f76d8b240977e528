// Writes src/api/schema.ts from the description of the server's answers, which is made from the code that answers.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const described = JSON.parse(await readFile(new URL("../docs/reference/openapi.json", import.meta.url), "utf8"));
// Only the forms of answers are wanted: the addresses stand in src/api, each once.
const { openapi, info, components } = described;
const nodes = await openapiTS({ openapi, info, paths: {}, components: { schemas: components.schemas } });
await writeFile(new URL("src/api/schema.ts", import.meta.url), `// Written by schema.mjs.\n${astToString(nodes)}`);
