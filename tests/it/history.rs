//! A team's history on the command line: postmortems in, nothing twice, nothing in a dry run; and
//! what the bot would have said of it, without a byte written.

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

struct Desk {
    folder: tempfile::TempDir,
}

#[derive(Debug)]
struct Said {
    code: Option<i32>,
    out: String,
    log: String,
}

impl Desk {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        let parent = path.parent().expect("a file stands in a folder");
        std::fs::create_dir_all(parent).expect("the folder is made");
        std::fs::write(path, content).expect("the file is written");
    }

    fn run(&self, arguments: &[&str]) -> Said {
        let database = format!("sqlite://{}", self.path("precedent.db").display());
        let output: Output = Command::new(env!("CARGO_BIN_EXE_precedent"))
            .args(arguments)
            .env_clear()
            .env("DATABASE_URL", database)
            .env("RUST_LOG", "warn")
            .current_dir(self.folder.path())
            .output()
            .expect("the program runs");
        Said {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            log: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    fn exported(&self) -> Vec<Value> {
        let said = self.run(&["memory", "export", "-"]);
        said.out
            .lines()
            .map(|line| serde_json::from_str(line).expect("an exported line is JSON"))
            .collect()
    }
}

fn postmortem(day: &str, fix: &str) -> String {
    format!(
        "# payments-api: pool empty\n\n**Started:** {day} 02:10 UTC\n\n**Resolved:** {day} 02:51 UTC\n\n\
         ## Impact\n\nCharges answered 503.\n\n## Root cause\n\nThe refund job keeps connections open\n\n\
         ## Resolution\n\n{fix}\n"
    )
}

fn a_folder(desk: &Desk) {
    desk.write(
        "postmortems/2026/pool.md",
        postmortem(
            "2026-05-14",
            "Stopped the refund job. Mail jane.doe@customer.example if it returns.",
        ),
    );
    // Another encoding: UTF-16 with its mark.
    let text = "# 订单服务超时\n\n服务：order-service\n\n## 根因\n\n慢查询\n\n## 处理\n\n增加索引，服务恢复\n";
    let mut bytes = vec![0xFF, 0xFE];
    bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    desk.write("postmortems/order.markdown", bytes);
    desk.write(
        "postmortems/README.md",
        "# Postmortems\n\nHow we write them.",
    );
    desk.write("postmortems/lunch.md", "# Lunch\n\nSoup.");
    desk.write(
        "postmortems/core.md",
        [0x7f, b'E', b'L', b'F', 0, 0, 1, 0, 0, 3],
    );
    desk.write("postmortems/.git/HEAD.md", postmortem("2026-05-14", "x"));
}

#[test]
fn a_folder_of_postmortems_is_imported_once_and_what_could_not_be_read_is_named() {
    let desk = Desk::new();
    a_folder(&desk);
    let said = desk.run(&["memory", "import", "postmortems"]);
    assert_eq!(said.code, Some(1), "some could not be read: {said:?}");
    assert!(
        said.log
            .contains("2 added, 0 changed, 0 as before, 1 left out, 2 not imported"),
        "{}",
        said.log
    );
    for line in [
        "lunch.md: nothing in it",
        "core.md: it is not text",
        "README.md: left out",
    ] {
        assert!(said.log.contains(line), "{line}: {}", said.log);
    }
    let records = desk.exported();
    assert_eq!(records.len(), 2, "{records:?}");
    let pool = records
        .iter()
        .find(|record| record["service"] == json!("payments-api"))
        .expect("the pool incident");
    assert_eq!(pool["outcome"], json!("held"));
    assert_eq!(pool["source"], json!("2026/pool.md"));
    assert_eq!(pool["started_at"], json!("2026-05-14T02:10:00Z"));
    assert_eq!(
        pool["root_cause"],
        json!("The refund job keeps connections open")
    );
    let whole = format!("{records:?}");
    assert!(
        !whole.contains("jane.doe@"),
        "redacted at the entrance: {whole}"
    );
    assert!(whole.contains("增加索引"), "{whole}");

    // Again: nothing new. Changed: the same record, changed.
    let again = desk.run(&["memory", "import", "postmortems"]);
    assert!(
        again.log.contains("0 added, 0 changed, 2 as before"),
        "{}",
        again.log
    );
    desk.write(
        "postmortems/2026/pool.md",
        postmortem("2026-05-14", "Stopped the refund job and capped its pool."),
    );
    let changed = desk.run(&["memory", "import", "postmortems"]);
    assert!(
        changed.log.contains("0 added, 1 changed, 1 as before"),
        "{}",
        changed.log
    );
    let after = desk.exported();
    assert_eq!(after.len(), 2);
    assert!(
        format!("{after:?}").contains("capped its pool"),
        "{after:?}"
    );
}

#[test]
fn a_dry_run_tells_what_would_be_and_makes_no_database() {
    let desk = Desk::new();
    a_folder(&desk);
    let said = desk.run(&["memory", "import", "postmortems", "--dry-run"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    for line in [
        "2026/pool.md (new)",
        "service  payments-api",
        "began    2026-05-14 02:10 UTC, over 2026-05-14 02:51 UTC",
        "cause    The refund job keeps connections open",
    ] {
        assert!(said.out.contains(line), "{line}: {}", said.out);
    }
    assert!(said.log.contains("2 new, 0 changed"), "{}", said.log);
    assert!(!desk.path("precedent.db").exists(), "nothing was made");
    let one = desk.run(&["memory", "import", "postmortems/2026/pool.md"]);
    assert_eq!(one.code, Some(0), "{one:?}");
    let missing = desk.run(&["memory", "import", "nowhere.md"]);
    assert_eq!(missing.code, Some(1), "{missing:?}");
}

#[test]
fn what_came_back_in_the_same_folder_did_not_hold() {
    let desk = Desk::new();
    desk.write("p/a.md", postmortem("2026-05-14", "Restarted the pods"));
    desk.write("p/b.md", postmortem("2026-05-17", "Stopped the refund job"));
    let said = desk.run(&["memory", "import", "p"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let outcomes: Vec<Value> = desk
        .exported()
        .into_iter()
        .map(|record| record["outcome"].clone())
        .collect();
    assert_eq!(outcomes, [json!("came_back"), json!("held")]);
}

fn line(number: u32, day: &str, symptom: &str, cause: &str, fix: &str) -> String {
    json!({
        "id": number, "title": format!("payments-api: {symptom}"), "service": "payments-api",
        "started_at": format!("{day}T02:00:00Z"), "resolved_at": format!("{day}T03:00:00Z"),
        "symptoms": [symptom], "root_cause": cause, "fix": fix, "outcome": "held",
    })
    .to_string()
}

#[test]
fn r29_a_backtest_counts_what_was_known_before_and_writes_nothing() {
    let desk = Desk::new();
    let none = desk.run(&["backtest"]);
    assert_eq!(none.code, Some(1), "no database: {none:?}");
    assert!(
        !desk.path("precedent.db").exists(),
        "none is made by looking"
    );
    let pool = (
        "intermittent 503s, pool has no free connection",
        "The refund job keeps connections open",
        "Stop the refund job and restart payments-api",
    );
    let font = (
        "invoices are rendered in the wrong font",
        "A stylesheet was overwritten",
        "Restore invoice-theme.css",
    );
    let mut lines: Vec<String> = [
        (1, "2026-01-10", pool),
        (2, "2026-02-10", font),
        (3, "2026-03-10", pool),
        (4, "2026-04-10", pool),
    ]
    .into_iter()
    .map(|(number, day, (symptom, cause, fix))| line(number, day, symptom, cause, fix))
    .collect();
    lines.push(json!({"id": 9, "title": "Undated trouble of old"}).to_string());
    desk.write("memory.jsonl", lines.join("\n"));
    assert_eq!(
        desk.run(&["memory", "import", "memory.jsonl"]).code,
        Some(0)
    );

    let before = contents(desk.folder.path());
    let said = desk.run(&["backtest"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(
        said.out.starts_with(
            "5 incidents: 2 had an earlier match, right fix first in 2, wrong above 55: 0\n"
        ),
        "{}",
        said.out
    );
    assert!(
        said.out
            .contains("of the 3 without one: said \"nothing like this\" in 3"),
        "{}",
        said.out
    );
    assert!(said.out.contains("1 without a time"), "{}", said.out);
    let json = desk.run(&["backtest", "--json"]);
    let object: Value = serde_json::from_str(&json.out).expect("one JSON object");
    let third = &object["incidents"][2];
    assert_eq!(third["id"], json!("INC-0003"));
    assert_eq!(
        third["matches"],
        json!(["INC-0001"]),
        "never a later one: {third}"
    );
    assert_eq!(third["known"], json!(2));
    assert_eq!(
        contents(desk.folder.path()),
        before,
        "a backtest writes nothing"
    );
}

/// The database's bytes; its side files may come and go, what is in it may not change.
fn contents(folder: &Path) -> Vec<u8> {
    std::fs::read(folder.join("precedent.db")).expect("the database")
}
