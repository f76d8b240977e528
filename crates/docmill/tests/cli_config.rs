//! The configuration as a user meets it.

#![expect(clippy::unwrap_used, reason = "test binary")]

mod support;

use support::{Mill, finish};

#[test]
fn a_broken_file_reports_every_mistake_with_its_line_and_nothing_starts() {
    let mill = Mill::new();
    let config = mill.path("my.toml");
    std::fs::write(
        &config,
        "tennant = \"x\"\n[engine]\nlease = 60\nslot = 3\n[store]\nurl = \"mysql://db/x\"\n[limits]\nmax_pages = \"lots\"\n",
    )
    .unwrap();
    let config = config.to_str().unwrap();
    for command in [&["config", "check"][..], &["status"]] {
        let args = [&["--config", config], command].concat();
        mill.run(&args).expect(1).says(&[
            "5 problems",
            "my.toml:1: there is no setting `tennant` (did you mean `tenant`?)",
            "my.toml:3: `engine.lease`: `60` has no unit; write for instance `60s`",
            "my.toml:4: there is no setting `engine.slot` (did you mean `engine.slots`?)",
            "my.toml:6: `store.url`: this build cannot open `mysql:` (this build has `sqlite:`, `postgres:`, `postgresql:`)",
            "my.toml:8: `limits.max_pages`",
        ]);
    }
    assert!(!mill.data().try_exists().unwrap());
}

#[test]
fn programs_are_answered_with_an_object_when_the_configuration_is_broken() {
    let mill = Mill::new();
    let config = mill.path("my.toml");
    std::fs::write(&config, "tennant = \"x\"\n[store]\nurl = \"mysql://joe:hunter2@db/x\"\n").unwrap();
    let config = config.to_str().unwrap();
    let run = mill.run(&["--config", config, "config", "check", "--json"]).expect(1).says(&["2 problems"]);
    let said = run.json();
    assert_eq!((&said["ok"], said["problems"].as_array().unwrap().len()), (&false.into(), 2));
    let first = &said["problems"][0];
    assert!(first["at"].as_str().unwrap().ends_with("my.toml:1"), "{first}");
    assert_eq!(first["message"], "there is no setting `tennant`");
    assert!(first["hint"].as_str().unwrap().contains("`tenant`"), "{first}");
    let doctor = mill.run(&["--config", config, "doctor", "--json"]).expect(1);
    assert!(!doctor.stdout.contains("hunter2") && !run.stdout.contains("hunter2"), "{}", doctor.stdout);
    let said = doctor.json();
    let check = said["checks"].as_array().unwrap().iter().find(|check| check["name"] == "configuration");
    let check = check.unwrap();
    assert_eq!((&said["ok"], &check["ok"]), (&false.into(), &false.into()));
    assert!(check["detail"].as_str().unwrap().contains("`tennant`") && check["hint"].is_string(), "{check}");
    // A file that is not there has no lines to name.
    let said = mill.run(&["--config", "none.toml", "config", "check", "--json"]).expect(1).json();
    assert!(said["problems"][0]["message"].as_str().unwrap().contains("none.toml"), "{said}");
    let good = mill.run(&["config", "check", "--json"]).expect(0).json();
    assert_eq!((&good["ok"], good["problems"].as_array().unwrap().len()), (&true.into(), 0));
}

#[test]
fn show_says_where_each_value_comes_from() {
    let mill = Mill::new();
    std::fs::create_dir(mill.data()).unwrap();
    std::fs::write(mill.data().join("docmill.toml"), "[engine]\nslots = 3\n").unwrap();
    let mut command = mill.command(&["config", "show", "--origin", "--tenant", "acme"]);
    let run = finish(command.env("DOCMILL_LIMITS_MAX_PAGES", "77")).expect(0);
    for (setting, value, origin) in [
        ("engine.slots", "3", "docmill.toml:2"),
        ("limits.max_pages", "77", "environment variable DOCMILL_LIMITS_MAX_PAGES"),
        ("tenant", "\"acme\"", "flag --tenant"),
        ("engine.lease", "\"1m\"", "default"),
    ] {
        let line = run.stdout.lines().find(|line| line.starts_with(&format!("{setting} "))).unwrap();
        assert!(line.contains(value) && line.contains(origin), "{line}");
    }
}

#[test]
fn show_gives_programs_values_as_they_are() {
    let mill = Mill::new();
    let said = mill.run(&["config", "show", "--json"]).expect(0).json();
    let value = |name: &str| said["settings"][name]["value"].clone();
    assert_eq!((value("engine.slots"), value("tenant")), (8.into(), "local".into()));
    assert_eq!((value("engine.lease"), value("ocr.threshold")), ("1m".into(), 0.7.into()));
    assert!(value("ocr.languages").as_array().unwrap().contains(&"eng".into()), "{said}");
}

#[test]
fn engine_of_recognition_and_place_of_the_queue_are_settings() {
    let mill = Mill::new();
    let check = |name: &str, value: &str| finish(mill.command(&["config", "check"]).env(name, value));
    for engine in ["auto", "tesseract", "off"] {
        check("DOCMILL_OCR_ENGINE", engine).expect(0);
    }
    check("DOCMILL_OCR_ENGINE", "abbyy").expect(1).says(&["`ocr.engine`", "`abbyy`", "`tesseract`"]);
    check("DOCMILL_QUEUE_URL", "store:").expect(0);
    for url in ["redis://joe:hunter2@here/0", "sqs://queue"] {
        let run =
            check("DOCMILL_QUEUE_URL", url).expect(1).says(&["`queue.url`", "`store:`", "`postgres://…`"]);
        assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
    }
    let mut command = mill.command(&["doctor", "--json"]);
    let doctor = finish(command.env("DOCMILL_OCR_ENGINE", "off")).expect(0).json();
    let checks = doctor["checks"].as_array().unwrap();
    let ocr = checks.iter().find(|check| check["name"] == "ocr").unwrap();
    assert!(ocr["detail"].as_str().unwrap().contains("`ocr.engine` is `off`"), "{ocr}");
}

#[test]
fn an_unknown_variable_is_a_warning() {
    let mill = Mill::new();
    let mut command = mill.command(&["config", "check"]);
    finish(command.env("DOCMILL_ENGINE_SLOT", "3")).expect(0).says(&["did you mean DOCMILL_ENGINE_SLOTS?"]);
}

#[test]
fn the_reference_page_lists_every_variable() {
    let mill = Mill::new();
    let page = mill.run(&["config", "reference"]).expect(0).stdout;
    assert!(page.contains("DOCMILL_LIMITS_MAX_PAGES") && page.contains("[sandbox]"));
}

#[test]
fn collector_for_spans_is_refused_by_a_build_that_cannot_deliver_any() {
    let mill = Mill::new();
    let mut command = mill.command(&["config", "check"]);
    let run = finish(command.env("DOCMILL_OTEL_ENDPOINT", "http://joe:hunter2@127.0.0.1:4318"));
    if cfg!(feature = "otel") {
        run.expect(0);
    } else {
        let run = run.expect(1).says(&["DOCMILL_OTEL_ENDPOINT", "cannot deliver spans", "--features otel"]);
        assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
    }
    // Variables that are set for all programs of a machine stop nothing.
    let mut command = mill.command(&["config", "check"]);
    finish(command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")).expect(0);
    let mut command = mill.command(&["config", "check"]);
    finish(command.env("DOCMILL_OTEL_ENDPOINT", "https://collector")).expect(1).says(&["otel.endpoint"]);
}
