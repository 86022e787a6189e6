//! A headless Chromium, spoken to in the DevTools protocol over a pair of pipes.
//!
//! Wanted: what a person does. Buttons are found by the name that a screen reader says, pressed with
//! the mouse where they are drawn, text is typed. Whatever the page throws or logs as an error fails
//! the test. Deliberately absent: everything else of the protocol, and a WebSocket.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;
use tokio::time::Instant;

/// How long the page may take to show something, on a machine that builds meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often the page is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(25);

const FLAGS: [&str; 13] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    // Nothing but this machine is reached, whatever a page asks for.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-pipe",
    "about:blank",
];

/// How elements are found by their accessible name: exactly, or at the beginning of it.
const FIND: &str = r"
    const shown = (e) => e.getClientRects().length > 0;
    const name = (e) => (e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent ?? e.textContent).trim();
    const named = (wanted, root) => [...(root ?? document).querySelectorAll('button, a, [role=option], [role=menuitem], textarea, input, select')]
        .filter(shown).find((e) => name(e) === wanted || name(e).startsWith(wanted));
    const text = (selector) => document.querySelector(selector)?.innerText ?? '';
";

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>;

/// The browser with one page.
pub struct Browser {
    child: Child,
    commands: ChildStdin,
    waiting: Waiting,
    troubles: Arc<Mutex<Vec<String>>>,
    last_id: u64,
    session: Option<String>,
    pictures: Option<PathBuf>,
    profile: tempfile::TempDir,
}

/// Where Chromium is: `CHROMIUM`, else on the path. `None` where there is none.
pub fn chromium() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        let path = PathBuf::from(named);
        assert!(path.is_file(), "CHROMIUM names no file: {}", path.display());
        return Some(path);
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .map(|folder| folder.join("chromium"))
        .find(|path| path.is_file())
}

impl Browser {
    /// Starts it, with an empty profile.
    pub async fn start(chromium: &Path) -> Self {
        let profile = tempfile::tempdir().expect("a folder for the profile");
        // The protocol's pipes are the descriptors 3 and 4.
        let mut child = Command::new("sh")
            .args([
                "-c",
                r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#,
            ])
            .arg(chromium)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(FLAGS)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("a shell starts the browser");
        let commands = child.stdin.take().expect("a pipe for commands");
        let answers = child.stdout.take().expect("a pipe for answers");
        let waiting = Waiting::default();
        let troubles = Arc::default();
        tokio::spawn(read(answers, Arc::clone(&waiting), Arc::clone(&troubles)));
        let mut browser = Self {
            child,
            commands,
            waiting,
            troubles,
            last_id: 0,
            session: None,
            pictures: std::env::var_os("PRECEDENT_PICTURES").map(PathBuf::from),
            profile,
        };
        let targets = browser.send("Target.getTargets", json!({})).await;
        let target = targets
            .pointer("/targetInfos")
            .and_then(Value::as_array)
            .and_then(|all| all.iter().find(|target| target["type"] == "page"))
            .expect("a page is open");
        let attached = browser
            .send(
                "Target.attachToTarget",
                json!({"targetId": target["targetId"], "flatten": true}),
            )
            .await;
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.send(domain, json!({})).await;
        }
        browser
            .send(
                "Emulation.setEmulatedMedia",
                json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]}),
            )
            .await;
        browser
    }

    /// Sends one command and waits for its answer.
    async fn send(&mut self, method: &str, parameters: Value) -> Value {
        self.last_id += 1;
        let mut command = json!({"id": self.last_id, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        let (answer, answered) = oneshot::channel();
        self.waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(self.last_id, answer);
        self.commands
            .write_all(format!("{command}\0").as_bytes())
            .await
            .expect("the browser takes commands");
        let mut said = tokio::time::timeout(PATIENCE, answered)
            .await
            .expect("the browser answers in time")
            .expect("the browser is there");
        assert!(said.get("error").is_none(), "{method}: {said}");
        said["result"].take()
    }

    /// Opens an address.
    pub async fn open(&mut self, address: &str) {
        self.send("Page.navigate", json!({"url": address})).await;
    }

    /// The size of the window in CSS pixels; a narrow one is a phone.
    pub async fn size(&mut self, width: u32, height: u32) {
        self.send("Emulation.setDeviceMetricsOverride", json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})).await;
    }

    /// The value of an expression, in which `named(name, root?)` and `text(selector)` find things.
    pub async fn value(&mut self, expression: &str) -> Value {
        let expression = format!("(async () => {{ {FIND} return ({expression}); }})()");
        let result = self
            .send(
                "Runtime.evaluate",
                json!({"expression": expression, "awaitPromise": true, "returnByValue": true}),
            )
            .await;
        match result.get("exceptionDetails") {
            None => result["result"]["value"].clone(),
            // While the page loads nothing is there yet; whoever waits asks again.
            Some(_) => Value::Null,
        }
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn until<'a>(&'a mut self, expression: &str) -> impl Future<Output = Value> + use<'a> {
        self.wait(Location::caller(), expression.to_owned())
    }

    /// Waits until a part of the page shows a text.
    #[track_caller]
    pub fn shows<'a>(
        &'a mut self,
        selector: &str,
        text: &str,
    ) -> impl Future<Output = Value> + use<'a> {
        let wanted = format!("text({}).includes({})", json!(selector), json!(text));
        self.wait(Location::caller(), wanted)
    }

    async fn wait(&mut self, at: &'static Location<'static>, expression: String) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let value = self.value(&expression).await;
            if !(value.is_null() || value == false || value == 0 || value == "") {
                return value;
            }
            if Instant::now() > deadline {
                self.picture("waited-in-vain").await;
                let shown = self.value("document.body.innerText").await;
                panic!(
                    "{at}: waited for {expression}\n{}\nthe page shows:\n{}",
                    self.troubles().join("\n"),
                    shown.as_str().unwrap_or_default()
                );
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Presses an element with the mouse, once it is there, switched on, and lies still.
    #[track_caller]
    pub fn press<'a>(&'a mut self, element: &str) -> impl Future<Output = ()> + use<'a> {
        self.press_from(Location::caller(), element.to_owned())
    }

    /// Presses whatever has this accessible name (or begins with it) within a part of the page.
    #[track_caller]
    pub fn press_named<'a>(
        &'a mut self,
        root: &str,
        name: &str,
    ) -> impl Future<Output = ()> + use<'a> {
        let element = format!(
            "named({}, document.querySelector({}))",
            json!(name),
            json!(root)
        );
        self.press_from(Location::caller(), element)
    }

    async fn press_from(&mut self, at: &'static Location<'static>, element: String) {
        let still = format!(
            "await (async () => {{
                const place = () => {{
                    const e = {element};
                    if (!e || e.disabled) return null;
                    e.scrollIntoView({{block: 'center'}});
                    const box = e.getBoundingClientRect();
                    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
                    const top = document.elementFromPoint(x, y);
                    return box.width > 0 && (e.contains(top) || top?.contains(e)) ? [x, y] : null;
                }};
                const before = place();
                await new Promise((done) => setTimeout(done, 60));
                const now = place();
                return before && now && before.join() === now.join() ? now : null;
            }})()"
        );
        let place = self.wait(at, still).await;
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({
                "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1,
            });
            self.send("Input.dispatchMouseEvent", event).await;
        }
    }

    /// Types into what has the focus.
    pub async fn types(&mut self, text: &str) {
        self.send("Input.insertText", json!({"text": text})).await;
    }

    /// Presses the Enter key.
    pub async fn enter(&mut self) {
        for kind in ["keyDown", "keyUp"] {
            self.send("Input.dispatchKeyEvent", json!({"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"})).await;
        }
    }

    /// Saves a picture where `PRECEDENT_PICTURES` names a folder.
    pub async fn picture(&mut self, name: &str) {
        let Some(folder) = self.pictures.clone() else {
            return;
        };
        let shot = self
            .send("Page.captureScreenshot", json!({"format": "png"}))
            .await;
        let data = shot["data"].as_str().unwrap_or_default();
        let bytes = BASE64_STANDARD.decode(data).expect("a picture in base64");
        std::fs::create_dir_all(&folder).expect("a folder for pictures");
        std::fs::write(folder.join(format!("{name}.png")), bytes).expect("a picture is written");
    }

    fn troubles(&self) -> Vec<String> {
        self.troubles
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Ends it; what went wrong in the page fails the test.
    pub async fn ends(mut self) {
        self.session = None;
        self.send("Browser.close", json!({})).await;
        tokio::time::timeout(PATIENCE, self.child.wait())
            .await
            .expect("the browser ends")
            .expect("it was ours");
        assert_eq!(
            self.troubles(),
            Vec::<String>::new(),
            "the page is without errors"
        );
        // Its helpers may still be writing for a moment.
        let deadline = Instant::now() + PATIENCE;
        while std::fs::remove_dir_all(self.profile.path()).is_err() && Instant::now() < deadline {
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// Hands answers to whoever waits for them, and notes what goes wrong in the page.
async fn read(answers: ChildStdout, waiting: Waiting, troubles: Arc<Mutex<Vec<String>>>) {
    let mut answers = BufReader::new(answers);
    let mut bytes = Vec::new();
    while answers
        .read_until(0, &mut bytes)
        .await
        .is_ok_and(|read| read > 0)
    {
        bytes.pop();
        let said: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        bytes.clear();
        if let Some(id) = said["id"].as_u64() {
            if let Some(answer) = waiting
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .remove(&id)
            {
                // Whoever asked may have gone.
                let _ = answer.send(said);
            }
            continue;
        }
        let bad = match said["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => said["params"]["type"] == "error",
            Some("Log.entryAdded") => said["params"]["entry"]["level"] == "error",
            _ => false,
        };
        if bad {
            troubles
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(said["params"].to_string());
        }
    }
}
