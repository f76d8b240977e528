//! The one table of settings. A new setting is a field in `settings` and a row here; the file, the
//! environment, `docmill config show` and the reference page follow from the row.

use super::key::{Key, Place, key};
use super::llm;

/// Every setting, in the order of the reference page.
pub static KEYS: &[Key] = &[
    key(
        "data",
        Place::Path(|s| &mut s.data),
        "The data directory: database, blobs and index. One process owns it at a time; other commands talk to \
         that process. The default is `docmill` in the platform's data directory.",
    ),
    key(
        "tenant",
        Place::Text(|s| &mut s.tenant),
        "The tenant that commands work for. It is made when it is first used.",
    ),
    key(
        "listen",
        Place::Text(|s| &mut s.listen),
        "Where `docmill serve` answers HTTP. An address that others can reach needs a key first \
         (`docmill key create`).",
    ),
    key(
        "http.max_connections",
        Place::Count32(|s| &mut s.http.max_connections),
        "Connections that `docmill serve` has open at once; others wait.",
    ),
    key(
        "http.max_uploads",
        Place::Count32(|s| &mut s.http.max_uploads),
        "Requests that bring documents at once. One more is answered with 503 and told when to come again. Each holds \
         at most 4 MiB in memory. One tenant gets seven eighths of them at most.",
    ),
    key(
        "http.requests_per_second",
        Place::Count32(|s| &mut s.http.requests_per_second),
        "Requests of one key in a second; 0 means any number. A key that asks faster is answered with 429.",
    ),
    key(
        "store.url",
        Place::Text(|s| &mut s.store_url),
        "The database. `sqlite:` lies in the data directory as `docmill.db`; a path may follow. \
         `postgres://user:password@host/database` is shared by any number of processes and machines; \
         `DATABASE_URL` is understood too.",
    ),
    key(
        "store.max_connections",
        Place::Count32(|s| &mut s.store.max_connections),
        "How many connections to a database server one process opens at most, beside one for renewals.",
    ),
    key(
        "store.statement_timeout",
        Place::Time(|s| &mut s.store.statement_timeout),
        "A statement that runs longer on a database server is stopped, and what it was part of is tried again.",
    ),
    key(
        "queue.url",
        Place::Text(|s| &mut s.queue_url),
        "Where the queue of tasks is. `store:` is in the database that `store.url` names, which is the only place in this \
         version.",
    ),
    key(
        "blobs.url",
        Place::Text(|s| &mut s.blobs_url),
        "Where originals and transcripts lie. `file:` is the folder `blobs` of the data directory; a path may \
         follow. `s3://bucket/prefix` is a bucket of AWS or of any server that speaks S3; its keys come from the \
         environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`) or from the machine's \
         role, never from a file of docmill.",
    ),
    key(
        "blobs.endpoint",
        Place::Text(|s| &mut s.blobs.endpoint),
        "The address of an S3 server that is not AWS, for instance `http://127.0.0.1:9000`. The default is \
         `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`, and AWS itself if neither is set. `http:` is spoken only \
         where it is written.",
    ),
    key(
        "blobs.region",
        Place::Text(|s| &mut s.blobs.region),
        "The region of the bucket. The default is `AWS_REGION` or `AWS_DEFAULT_REGION`, and `us-east-1` if neither \
         is set.",
    ),
    key(
        "blobs.retry_for",
        Place::Time(|s| &mut s.blobs.retry_for),
        "For how long a request to a blob server that failed is tried again before its caller is told; `0s` means \
         once only. Tasks are tried again later in any case.",
    ),
    key(
        "engine.slots",
        Place::Count32(|s| &mut s.engine.slots),
        "How much a worker does at once. An ordinary task takes one slot, a large one `engine.slots_large`, and \
         up to 32 tiny ones share one.",
    ),
    key(
        "engine.slots_large",
        Place::Count32(|s| &mut s.engine.slots_large),
        "Slots that a large task takes.",
    ),
    key(
        "engine.claim_max",
        Place::Count(|s| &mut s.engine.claim_max),
        "Tasks taken from the queue in one go.",
    ),
    key(
        "engine.lease",
        Place::Time(|s| &mut s.engine.lease),
        "How long a worker may keep a task without renewing its lease. The work of a worker that died is taken \
         over after this time.",
    ),
    key(
        "engine.renew_every",
        Place::Time(|s| &mut s.engine.renew_every),
        "How often leases are renewed; at most half of `engine.lease`.",
    ),
    key(
        "engine.sweep_every",
        Place::Time(|s| &mut s.engine.sweep_every),
        "How often expired leases are looked for.",
    ),
    key(
        "engine.shutdown_grace",
        Place::Time(|s| &mut s.engine.shutdown_grace),
        "How long running work may go on after SIGTERM or Ctrl-C before it is handed back.",
    ),
    key(
        "engine.stall_limit",
        Place::Time(|s| &mut s.engine.stall_limit),
        "A task without progress for so long is stopped. Long documents are not affected: every page is progress.",
    ),
    key(
        "engine.priority",
        Place::Priority(|s| &mut s.engine.priority),
        "Priority of new batches, 0 to 99, lower first. Each step is worth a minute of waiting, so nothing starves.",
    ),
    key(
        "engine.kinds",
        Place::Names(|s| &mut s.engine.kinds),
        "Kinds of task that this worker takes; empty means all (see `docs/reference/kinds.md`).",
    ),
    key(
        "engine.pages_per_part",
        Place::Count32(|s| &mut s.engine.pages_per_part),
        "A PDF with more pages than this is transcribed in parts of so many pages, side by side.",
    ),
    key(
        "kinds.*.concurrency",
        Place::KindCount(|k| &mut k.concurrency),
        "At most so many tasks of this kind run at once. `<name>` is the name of the kind, such as `extract-text`.",
    ),
    key(
        "kinds.*.per_second",
        Place::KindRate(|k| &mut k.per_second),
        "At most so many tasks of this kind start in a second. `<name>` is the name of the kind, such as `extract-text`.",
    ),
    key(
        "sandbox.mode",
        Place::Mode(|s| &mut s.sandbox.mode),
        "What to do where the kernel lacks a layer of the sandbox: `best_effort` uses what there is and says so in \
         `docmill doctor`; `required` refuses to read anything.",
    ),
    key(
        "sandbox.children",
        Place::Count32(|s| &mut s.sandbox.children),
        "Child processes that read documents at once; 0 means one for each core.",
    ),
    key(
        "sandbox.recycle_after",
        Place::Count32(|s| &mut s.sandbox.recycle_after),
        "Documents that a child reads before it is replaced.",
    ),
    key(
        "sandbox.memory",
        Place::Bytes(|s| &mut s.sandbox.memory_bytes),
        "Memory of a child that reads ordinary documents.",
    ),
    key(
        "sandbox.memory_large",
        Place::Bytes(|s| &mut s.sandbox.memory_bytes_large),
        "Memory of a child that reads what failed in an ordinary one.",
    ),
    key(
        "sandbox.cpu_without_progress",
        Place::Time(|s| &mut s.sandbox.cpu_without_progress),
        "CPU time that a document may take without giving a page or a member.",
    ),
    key(
        "sandbox.wall_without_progress",
        Place::Time(|s| &mut s.sandbox.wall_without_progress),
        "Wall time that a document may take without giving a page or a member.",
    ),
    key(
        "view.children",
        Place::Count32(|s| &mut s.view.children),
        "Child processes that draw pages for people at once, beside those that read documents; 0 means one for two \
         cores, and two at least. They start when somebody looks.",
    ),
    key(
        "view.memory",
        Place::Bytes(|s| &mut s.view.memory_bytes),
        "Memory of this process for pictures of pages that were looked at lately. A page on a screen takes some 100 KiB.",
    ),
    key(
        "read.passwords",
        Place::Secrets(|s| &mut s.passwords),
        "Passwords that are tried on encrypted PDF files, one after the other, at most 100; documents that need none \
         are not concerned. In the environment one a line. They are never shown.",
    ),
    key(
        "read.pdfium",
        Place::Path(|s| &mut s.pdfium),
        "pdfium's library, `libpdfium.so`: the second engine for PDF files, asked where the first one fails or its text \
         looks wrong. Empty means the one that `docmill models pull` fetched; without any the first engine is alone.",
    ),
    key(
        "ocr.engine",
        Place::Engine(|s| &mut s.ocr.engine),
        "What text in pictures is recognised with: `auto` is Tesseract and, where it does not do well, the second engine \
         that `docmill models pull` fetched; `tesseract` is Tesseract alone; `off` is nothing.",
    ),
    key(
        "ocr.mode",
        Place::Ocr(|s| &mut s.ocr.mode),
        "Which pages are read by OCR: those whose text is missing or cannot be trusted, none, or all.",
    ),
    key(
        "ocr.languages",
        Place::Names(|s| &mut s.ocr.languages),
        "Languages that text in pictures is expected in, as Tesseract names its models (`eng`, `deu`, `chi_sim`). Each \
         one makes OCR slower. On Debian the model of a language is the package `tesseract-ocr-<language>`.",
    ),
    key(
        "ocr.threshold",
        Place::Fraction(|s| &mut s.ocr.threshold),
        "A page that is recognised with less quality than this is cleaned and tried again; the best try is kept.",
    ),
    key(
        "ocr.library",
        Place::Path(|s| &mut s.ocr.library),
        "Tesseract's library, `libtesseract.so.5`. Empty means where the system keeps it.",
    ),
    key(
        "ocr.tessdata",
        Place::Path(|s| &mut s.ocr.tessdata),
        "The folder of Tesseract's models. Empty means where the system keeps them.",
    ),
    key(
        "understand.labels",
        Place::Names(|s| &mut s.understand.labels),
        "Files of label sets that documents are sorted by, beside those that are built in; one of the same name replaces it (see `docs/how-to/sort-by-labels.md`).",
    ),
    llm::URL,
    llm::MODEL,
    llm::KEY,
    llm::VISION,
    llm::MAX_TEXT,
    llm::TIMEOUT,
    llm::TOTAL_TIMEOUT,
    llm::CONCURRENCY,
    llm::PER_MINUTE,
    llm::PRICE_IN,
    llm::PRICE_OUT,
    key(
        "extract.schemas",
        Place::Names(|s| &mut s.extract.schemas),
        "Of which documents records are kept, and by which schemas: `type=schema`, or one name where both are called the \
         same. Types are those that `docmill show` tells as `kind`; schemas are built in or come from `docmill schema add`. \
         `off` means none.",
    ),
    key(
        "extract.ask",
        Place::Ask(|s| &mut s.extract.ask),
        "When the language model that `llm.url` names is asked for fields: `doubtful` only for those that a person would \
         have to look at, `always` for all of every record, `never`.",
    ),
    key(
        "limits.max_document_bytes",
        Place::Bytes(|s| &mut s.limits.max_document_bytes),
        "Size of a single document.",
    ),
    key(
        "limits.max_container_bytes",
        Place::Bytes(|s| &mut s.limits.max_container_bytes),
        "Size of a container (archive, mailbox), packed and unpacked.",
    ),
    key(
        "limits.max_ratio",
        Place::Count64(|s| &mut s.limits.max_ratio),
        "Bytes that may come out of a container for each byte in it, once `limits.ratio_from_bytes` have come out.",
    ),
    key(
        "limits.ratio_from_bytes",
        Place::Bytes(|s| &mut s.limits.ratio_from_bytes),
        "Below this size the expansion ratio of a container does not matter.",
    ),
    key("limits.max_nesting", Place::Count32(|s| &mut s.limits.max_nesting), "Containers inside containers."),
    key("limits.max_entries", Place::Count64(|s| &mut s.limits.max_entries), "Entries of one archive."),
    key(
        "limits.max_tree_entries",
        Place::Count64(|s| &mut s.limits.max_tree_entries),
        "Entries of one archive and of all archives inside it together.",
    ),
    key("limits.max_pages", Place::Count32(|s| &mut s.limits.max_pages), "Pages of one document."),
    key("limits.max_text_bytes", Place::Bytes(|s| &mut s.limits.max_text_bytes), "Text of one document."),
    key(
        "limits.max_markup_depth",
        Place::Count32(|s| &mut s.limits.max_markup_depth),
        "Nesting of elements in markup, JSON and the like.",
    ),
    key(
        "limits.max_image_pixels",
        Place::Count64(|s| &mut s.limits.max_image_pixels),
        "Pixels of one picture. A larger one is not decoded.",
    ),
    key(
        "limits.min_free_disk_bytes",
        Place::Bytes(|s| &mut s.limits.min_free_disk_bytes),
        "Nothing more is taken in when less room than this is left on the disk.",
    ),
    key("events.retention", Place::Time(|s| &mut s.event_retention), "How long events are kept."),
    key(
        "log.level",
        Place::Level(|s| &mut s.log.level),
        "The least important lines that are logged. `info` has a line for every attempt at a task. `-v` and `-q` are \
         stronger, and so is the variable `DOCMILL_LOG`, which takes a filter such as \
         `warn,docmill_pipeline=debug`.",
    ),
    key(
        "log.format",
        Place::Format(|s| &mut s.log.format),
        "How log lines look on stderr: `text` for people, `json` for one object a line. With `--json` they are \
         objects in any case.",
    ),
    key(
        "metrics.listen",
        Place::Text(|s| &mut s.metrics_listen),
        "An address, or a port of this machine alone, where `docmill work` and `docmill serve` show `/metrics`, \
         `/healthz` and `/readyz`; empty means nowhere. `docmill serve` shows them on its own address too. The page \
         tells nothing of a tenant, so an address that others reach may be given where they should.",
    ),
    key(
        "otel.endpoint",
        Place::Text(|s| &mut s.otel.endpoint),
        "A collector for OpenTelemetry that gets spans over OTLP/HTTP, such as `http://127.0.0.1:4318`; empty means \
         nowhere. The variables `OTEL_EXPORTER_OTLP_ENDPOINT` and `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` are \
         understood too. Needs a build with `--features otel`.",
    ),
    key(
        "otel.sample",
        Place::Fraction(|s| &mut s.otel.sample),
        "The share of ingestions that are traced, from 0 to 1. The variables `OTEL_TRACES_SAMPLER` and \
         `OTEL_TRACES_SAMPLER_ARG` are understood too.",
    ),
];
