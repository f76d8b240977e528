/** The lines of a review, by the schema it was made with. */
import type { Review, SchemaDetail, SchemaLine } from "../../api/types";
import { type FieldLine, fieldLines } from "../../fields/lines";

export const checksOf = (schema: SchemaDetail | null | undefined) => schema?.schema["x-docmill"]?.checks ?? [];

export const linesOf = (review: Pick<Review, "schema" | "fields" | "violations">, schemas: SchemaLine[] | undefined, schema: SchemaDetail | null | undefined): FieldLine[] =>
  fieldLines(review, schemas?.find((one) => one.name === review.schema), checksOf(schema));
