//! Where the store can live, for tests that hold in each of its homes.
//!
//! SQLite is a folder of its own for each test. PostgreSQL is a database of its own for each test,
//! on the server that `PRECEDENT_TEST_POSTGRES` names (a user who may create databases), else on one
//! that the tests start from the binaries that Debian installs, with a folder of its own, on
//! loopback, once for all tests of the process. It ends with the process, however that ends. Where
//! there is neither, the tests of PostgreSQL say so and are skipped; with `CI` set they fail.

use precedent::database::Pool;
use precedent::memory;
use precedent::store::Store;
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{ConnectOptions, Connection, PgConnection};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, OnceCell};

/// The database of a test that does not say which: a file of SQLite in its folder, or with
/// `PRECEDENT_TEST_HOME=postgres` a database of PostgreSQL, so that a whole suite runs there.
pub async fn usual(folder: &Path) -> String {
    match std::env::var("PRECEDENT_TEST_HOME").as_deref() {
        Ok("postgres") => postgres_database().await.expect("PostgreSQL"),
        Ok(other) => panic!("PRECEDENT_TEST_HOME is postgres or not set, and not {other:?}"),
        Err(_) => sqlite_in(folder),
    }
}

/// A file of SQLite in this folder.
pub fn sqlite_in(folder: &Path) -> String {
    format!("sqlite://{}", folder.join("precedent.db").display())
}

/// Connections beside the program's own, for a test to look and to set things up.
pub async fn beside(url: &str) -> Pool {
    if url.starts_with("postgres") {
        let pool = PgPoolOptions::new().max_connections(1).connect(url).await;
        return Pool::Postgres(pool.expect("the database is there"));
    }
    let options: SqliteConnectOptions = url.parse().expect("the address of the database");
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .connect_with(options.create_if_missing(false))
        .await;
    Pool::Sqlite(pool.expect("the database is there"))
}

/// Every byte that is kept: the files in SQLite's folder, or the rows of PostgreSQL's tables.
pub async fn all_that_is_kept(url: &str, folder: &Path) -> Vec<Vec<u8>> {
    if !url.starts_with("postgres") {
        let files = std::fs::read_dir(folder).expect("the folder of the database");
        return files
            .map(|file| std::fs::read(file.expect("a file").path()).expect("a file"))
            .collect();
    }
    let mut connection = connect(url).await;
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()",
    )
    .fetch_all(&mut connection)
    .await
    .expect("tables can be listed");
    let mut kept = Vec::new();
    for table in tables {
        let rows: String = sqlx::query_scalar(sqlx::AssertSqlSafe(format!(
            "SELECT coalesce(string_agg(kept::text, ' '), '') FROM {table} AS kept"
        )))
        .fetch_one(&mut connection)
        .await
        .expect("a table can be read");
        kept.push(rows.into_bytes());
    }
    kept
}

/// One home: a database that nobody else has.
pub struct Home {
    url: String,
    folder: tempfile::TempDir,
}

impl Home {
    /// A file of SQLite.
    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let url = sqlite_in(folder.path());
        Self { url, folder }
    }

    /// A database of PostgreSQL; `None` where there is no server.
    pub async fn postgres() -> Option<Self> {
        Some(Self {
            url: postgres_database().await?,
            folder: tempfile::tempdir().expect("a folder"),
        })
    }

    /// The home of a test that does not say which (see [`usual`]).
    pub async fn usual() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self {
            url: usual(folder.path()).await,
            folder,
        }
    }

    /// Another home of the same kind.
    pub async fn another(&self) -> Self {
        if self.is_postgres() {
            Self::postgres().await.expect("there was one before")
        } else {
            Self::sqlite()
        }
    }

    /// Whether it is PostgreSQL.
    pub fn is_postgres(&self) -> bool {
        self.url.starts_with("postgres")
    }

    /// What `DATABASE_URL` is set to.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A folder for what else a test writes.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Opens the store, again if it was opened before.
    pub async fn store(&self) -> Store {
        Store::open(&self.url).await.expect("the store opens")
    }

    /// The memory in it.
    pub fn memory(&self, store: &Store) -> memory::Database {
        memory::Database::new(store.read_pool().clone())
    }
}

/// Stamps tests that take a home for each of the homes.
macro_rules! in_every_home {
    ($($name:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(&crate::homes::Home::sqlite()).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                if let Some(home) = crate::homes::Home::postgres().await {
                    super::$name(&home).await;
                }
            })*
        }
    };
}
pub(crate) use in_every_home;

/// A server of PostgreSQL.
struct Server {
    /// A user who may create databases, in the database `postgres`.
    url: String,
}

static SERVER: OnceCell<Option<Server>> = OnceCell::const_new();
/// One database is created at a time: they are copies of one, which must be at rest.
static TEMPLATE: Mutex<Option<String>> = Mutex::const_new(None);
static NEXT: AtomicU32 = AtomicU32::new(1);

/// The URL of a fresh database with our tables in it; `None`, said once a test, without a server.
pub async fn postgres_database() -> Option<String> {
    let server = SERVER.get_or_init(async || server().await).await;
    let Some(server) = server else {
        assert!(
            std::env::var_os("CI").is_none(),
            "PostgreSQL is neither named by PRECEDENT_TEST_POSTGRES nor installed"
        );
        eprintln!(
            "skipped: PostgreSQL is neither named by PRECEDENT_TEST_POSTGRES nor installed (Debian: apt-get install postgresql)"
        );
        return None;
    };
    let mut template = TEMPLATE.lock().await;
    let mut connection = connect(&server.url).await;
    let from = match &*template {
        Some(from) => from.clone(),
        None => {
            let name = format!("precedent_test_{}", std::process::id());
            create(&mut connection, &name, "template0").await;
            let store = Store::open(&with_database(&server.url, &name))
                .await
                .expect("the tables are made");
            store.close().await;
            template.insert(name).clone()
        }
    };
    let name = format!("{from}_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    create(&mut connection, &name, &from).await;
    let _closed = connection.close().await;
    Some(with_database(&server.url, &name))
}

/// A database without any tables; the server has to be there.
pub async fn empty_postgres_database() -> Option<String> {
    // The server, and whether there is one.
    postgres_database().await?;
    let server = SERVER.get()?.as_ref()?;
    let name = format!(
        "precedent_test_{}_empty_{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    );
    create(&mut connect(&server.url).await, &name, "template0").await;
    Some(with_database(&server.url, &name))
}

/// A connection to where the URL says.
pub async fn connect(url: &str) -> PgConnection {
    sqlx::postgres::PgConnectOptions::from_str(url)
        .expect("a URL of PostgreSQL")
        .disable_statement_logging()
        .connect()
        .await
        .expect("the server answers")
}

async fn create(connection: &mut PgConnection, name: &str, template: &str) {
    for statement in [
        format!("DROP DATABASE IF EXISTS {name}"),
        format!(
            "CREATE DATABASE {name} TEMPLATE {template} ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
        ),
    ] {
        sqlx::query(sqlx::AssertSqlSafe(statement))
            .execute(&mut *connection)
            .await
            .expect("a database is created");
    }
}

/// The same server and user, another database.
pub fn with_database(url: &str, name: &str) -> String {
    let (before, query) = url.split_once('?').unwrap_or((url, ""));
    let (server, _) = before.rsplit_once('/').expect("a URL with a database");
    let query = if query.is_empty() {
        String::new()
    } else {
        format!("?{query}")
    };
    format!("{server}/{name}{query}")
}

async fn server() -> Option<Server> {
    if let Ok(url) = std::env::var("PRECEDENT_TEST_POSTGRES") {
        return Some(Server { url });
    }
    let started = tokio::task::spawn_blocking(start).await.expect("no panic");
    let url = started?;
    let deadline = Instant::now() + Duration::from_secs(30);
    let options = sqlx::postgres::PgConnectOptions::from_str(&url).expect("a URL");
    loop {
        match options.connect().await {
            Ok(connection) => {
                let _closed = connection.close().await;
                return Some(Server { url });
            }
            Err(error) => assert!(
                Instant::now() < deadline,
                "PostgreSQL does not start: {error}"
            ),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Where Debian installs the newest version's programs.
fn binaries() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut folders: Vec<(u32, PathBuf)> = versions
        .filter_map(|version| {
            let path = version.ok()?.path();
            let number = path.file_name()?.to_str()?.parse().ok()?;
            let bin = path.join("bin");
            bin.join("initdb").exists().then_some((number, bin))
        })
        .collect();
    folders.sort();
    folders.pop().map(|(_, bin)| bin)
}

/// Starts a server; it ends when this process does, because its keeper's input ends then.
fn start() -> Option<String> {
    static KEEPER: std::sync::OnceLock<Child> = std::sync::OnceLock::new();
    let bin = binaries()?;
    let folder = tempfile::Builder::new()
        .prefix("precedent-postgres-")
        .tempdir()
        .expect("a folder")
        .keep();
    let port = TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port();
    // It refuses to run as root.
    let user = (number(&["-u"]) == Some(0)).then(|| {
        let user = number(&["-u", "postgres"]).expect("the user postgres");
        let group = number(&["-g", "postgres"]).expect("the group postgres");
        std::os::unix::fs::chown(&folder, Some(user), Some(group)).expect("a folder of its own");
        (user, group)
    });
    let mut keeper = Command::new("sh");
    keeper
        .args(["-c", KEEPER_SCRIPT, "keeper"])
        .arg(&bin)
        .arg(&folder)
        .arg(port.to_string())
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Some((user, group)) = user {
        keeper.uid(user).gid(group);
    }
    let child = keeper.spawn().expect("a shell");
    assert!(KEEPER.set(child).is_ok(), "started once");
    Some(format!(
        "postgres://precedent:not-a-secret@127.0.0.1:{port}/postgres"
    ))
}

const KEEPER_SCRIPT: &str = r#"
bin=$1 folder=$2 port=$3
"$bin/initdb" -D "$folder/data" -U precedent -A trust -E UTF8 --locale=C --no-sync >"$folder/log" 2>&1
"$bin/postgres" -D "$folder/data" -k "$folder" -p "$port" \
    -c listen_addresses=127.0.0.1 -c max_connections=500 -c shared_buffers=64MB \
    -c fsync=off -c full_page_writes=off -c autovacuum=on -c log_statement=none \
    </dev/null >>"$folder/log" 2>&1 &
server=$!
cat >/dev/null
kill -QUIT "$server"
wait "$server"
rm -rf "$folder"
"#;

fn number(arguments: &[&str]) -> Option<u32> {
    let output = Command::new("id").args(arguments).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
