//! One database in two bodies: SQLite in a file, or PostgreSQL.
//!
//! Wanted: the SQL of the store is written once and read as SQL; where the two dialects differ,
//! the two texts stand beside each other ([`Sql`]), and nothing else has to know which body runs.
//!
//! Statements take `$1` in both. Columns are integers, text, bytes and NULL, which both bodies
//! give back alike (PostgreSQL has them as `BIGINT`, `TEXT` and `BYTEA`); lists and documents are
//! JSON text. A statement is a constant of the program: there is no way to run a built string.
//!
//! Deliberately absent: a dialect of our own, a query builder, and what only one of the bodies
//! has; who needs that asks for the body ([`Pool::sqlite`], [`Connection::body`]).

pub mod past;
pub mod place;
pub mod terms;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{
    Arguments as _, Decode, FromRow, PgConnection, PgPool, Postgres, Row as _, Sqlite,
    SqliteConnection, SqlitePool, Type,
};
use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

/// A statement in both dialects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sql {
    /// As SQLite reads it.
    pub sqlite: &'static str,
    /// As PostgreSQL reads it.
    pub postgres: &'static str,
}

impl From<&'static str> for Sql {
    /// A text that means the same to both.
    fn from(shared: &'static str) -> Self {
        Self {
            sqlite: shared,
            postgres: shared,
        }
    }
}

/// Connections to the database. Clones are the same connections.
#[derive(Clone, Debug)]
pub enum Pool {
    /// To a file of SQLite.
    Sqlite(SqlitePool),
    /// To a server of PostgreSQL.
    Postgres(PgPool),
}

impl Pool {
    /// One of the connections.
    ///
    /// # Errors
    ///
    /// Where none is free in time, or none can be made.
    pub async fn acquire(&self) -> Result<Connection, sqlx::Error> {
        Ok(Connection(match self {
            Self::Sqlite(pool) => Held::Sqlite(pool.acquire().await?),
            Self::Postgres(pool) => Held::Postgres(pool.acquire().await.map_err(|error| {
                // Not for want of free ones: the server gave none.
                let few = pool.size() < pool.options().get_max_connections();
                match error {
                    sqlx::Error::PoolTimedOut if few => {
                        sqlx::Error::Io(std::io::ErrorKind::NotConnected.into())
                    }
                    other => other,
                }
            })?),
        }))
    }

    /// A transaction that will write. On SQLite it holds the file's one lock from the start: a
    /// deferred one that reads first fails at once where another writes.
    ///
    /// # Errors
    ///
    /// As for [`Pool::acquire`], and where SQLite's lock is not free in time.
    pub async fn begin(&self) -> Result<Transaction, sqlx::Error> {
        Ok(Transaction(Connection(match self {
            Self::Sqlite(pool) => {
                Held::SqliteTransaction(pool.begin_with("BEGIN IMMEDIATE").await?)
            }
            Self::Postgres(pool) => {
                // Dropped between the server's answer and its own last line, sqlx's begin gives the
                // connection back with the transaction open. A task is not dropped with its caller.
                let pool = pool.clone();
                let begun = tokio::spawn(async move { pool.begin().await });
                Held::PostgresTransaction(begun.await.map_err(|_| sqlx::Error::WorkerCrashed)??)
            }
        })))
    }

    /// Closes every connection; who asks for one afterwards is refused.
    pub async fn close(&self) {
        match self {
            Self::Sqlite(pool) => pool.close().await,
            Self::Postgres(pool) => pool.close().await,
        }
    }

    /// The connections, where the body is SQLite.
    pub fn sqlite(&self) -> Option<&SqlitePool> {
        match self {
            Self::Sqlite(pool) => Some(pool),
            Self::Postgres(_) => None,
        }
    }

    /// The connections, where the body is PostgreSQL.
    pub fn postgres(&self) -> Option<&PgPool> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(pool) => Some(pool),
        }
    }
}

/// One connection, within a transaction or not.
#[derive(Debug)]
pub struct Connection(Held);

#[derive(Debug)]
enum Held {
    Sqlite(PoolConnection<Sqlite>),
    SqliteTransaction(sqlx::Transaction<'static, Sqlite>),
    Postgres(PoolConnection<Postgres>),
    PostgresTransaction(sqlx::Transaction<'static, Postgres>),
}

/// The connection itself, for what only one of the bodies has.
#[derive(Debug)]
pub enum Body<'c> {
    /// To SQLite.
    Sqlite(&'c mut SqliteConnection),
    /// To PostgreSQL.
    Postgres(&'c mut PgConnection),
}

impl Connection {
    /// Whether the body is PostgreSQL.
    pub fn is_postgres(&self) -> bool {
        matches!(self.0, Held::Postgres(_) | Held::PostgresTransaction(_))
    }

    /// The connection itself.
    pub fn body(&mut self) -> Body<'_> {
        match &mut self.0 {
            Held::Sqlite(connection) => Body::Sqlite(connection),
            Held::SqliteTransaction(transaction) => Body::Sqlite(transaction),
            Held::Postgres(connection) => Body::Postgres(connection),
            Held::PostgresTransaction(transaction) => Body::Postgres(transaction),
        }
    }
}

/// A transaction; dropped without [`Transaction::commit`] it never was.
#[derive(Debug)]
pub struct Transaction(Connection);

impl Transaction {
    /// Makes it last.
    ///
    /// # Errors
    ///
    /// It may have been committed or not where the connection broke; not at all otherwise.
    pub async fn commit(self) -> Result<(), sqlx::Error> {
        match self.0.0 {
            Held::SqliteTransaction(transaction) => transaction.commit().await,
            Held::PostgresTransaction(transaction) => transaction.commit().await,
            Held::Sqlite(_) | Held::Postgres(_) => Ok(()),
        }
    }
}

impl Deref for Transaction {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.0
    }
}

impl DerefMut for Transaction {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.0
    }
}

/// Where a statement runs.
#[derive(Debug)]
pub enum On<'c> {
    /// On any connection, by itself.
    Pool(&'c Pool),
    /// On this one.
    Connection(&'c mut Connection),
}

impl<'c> From<&'c Pool> for On<'c> {
    fn from(pool: &'c Pool) -> Self {
        Self::Pool(pool)
    }
}

impl<'c> From<&'c mut Connection> for On<'c> {
    fn from(connection: &'c mut Connection) -> Self {
        Self::Connection(connection)
    }
}

impl<'c> From<&'c mut Transaction> for On<'c> {
    fn from(transaction: &'c mut Transaction) -> Self {
        Self::Connection(&mut transaction.0)
    }
}

/// A value to be bound. NULL keeps its type, which PostgreSQL asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Integer(Option<i64>),
    /// A text. PostgreSQL refuses NUL; one that nobody took out before is U+FFFD there.
    Text(Option<String>),
    /// Bytes.
    Bytes(Option<Vec<u8>>),
    /// Whole numbers: `IN (SELECT value FROM json_each($1))` to SQLite, `= ANY($1)` to PostgreSQL.
    Integers(Vec<i64>),
    /// Texts, likewise.
    Texts(Vec<String>),
}

macro_rules! values {
    ($($from:ty => |$value:ident| $to:expr),* $(,)?) => {
        $(impl From<$from> for Value {
            fn from($value: $from) -> Self {
                $to
            }
        })*
    };
}

values! {
    i64 => |value| Self::Integer(Some(value)),
    Option<i64> => |value| Self::Integer(value),
    String => |value| Self::Text(Some(value)),
    Option<String> => |value| Self::Text(value),
    &str => |value| Self::Text(Some(value.to_owned())),
    Option<&str> => |value| Self::Text(value.map(str::to_owned)),
    &String => |value| Self::Text(Some(value.clone())),
    Cow<'_, str> => |value| Self::Text(Some(value.into_owned())),
    Option<Cow<'_, str>> => |value| Self::Text(value.map(Cow::into_owned)),
    Vec<u8> => |value| Self::Bytes(Some(value)),
    Vec<i64> => |value| Self::Integers(value),
    Vec<String> => |value| Self::Texts(value),
}

impl Value {
    fn add_to_sqlite(self, arguments: &mut SqliteArguments) -> Result<(), sqlx::Error> {
        let list = |json: serde_json::Result<String>| json.map_err(|error| encode(error.into()));
        match self {
            Self::Integer(value) => arguments.add(value),
            Self::Text(value) => arguments.add(value),
            Self::Bytes(value) => arguments.add(value),
            Self::Integers(values) => arguments.add(list(serde_json::to_string(&values))?),
            Self::Texts(values) => arguments.add(list(serde_json::to_string(&values))?),
        }
        .map_err(encode)
    }

    fn add_to_postgres(self, arguments: &mut PgArguments) -> Result<(), sqlx::Error> {
        match self {
            Self::Integer(value) => arguments.add(value),
            Self::Text(value) => arguments.add(value.map(without_nul)),
            Self::Bytes(value) => arguments.add(value),
            Self::Integers(values) => arguments.add(values),
            Self::Texts(values) => {
                arguments.add(values.into_iter().map(without_nul).collect::<Vec<_>>())
            }
        }
        .map_err(encode)
    }
}

fn without_nul(text: String) -> String {
    if text.contains('\0') {
        text.replace('\0', "\u{fffd}")
    } else {
        text
    }
}

fn encode(error: sqlx::error::BoxDynError) -> sqlx::Error {
    sqlx::Error::Encode(error)
}

/// A type of one column.
pub trait Column:
    Type<Sqlite> + for<'r> Decode<'r, Sqlite> + Type<Postgres> + for<'r> Decode<'r, Postgres>
{
}

impl<T> Column for T where
    T: Type<Sqlite> + for<'r> Decode<'r, Sqlite> + Type<Postgres> + for<'r> Decode<'r, Postgres>
{
}

/// A type of a whole row, such as a tuple.
pub trait Columns: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> {}

impl<T> Columns for T where T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> {}

/// One row of an answer.
#[derive(Debug)]
pub enum Row {
    /// From SQLite.
    Sqlite(SqliteRow),
    /// From PostgreSQL.
    Postgres(PgRow),
}

impl Row {
    /// The column of this name.
    ///
    /// # Errors
    ///
    /// Where there is none, or it holds something else.
    pub fn try_get<T: Column>(&self, name: &str) -> Result<T, sqlx::Error> {
        match self {
            Self::Sqlite(row) => row.try_get(name),
            Self::Postgres(row) => row.try_get(name),
        }
    }

    fn first<T: Column>(&self) -> Result<T, sqlx::Error> {
        match self {
            Self::Sqlite(row) => row.try_get(0),
            Self::Postgres(row) => row.try_get(0),
        }
    }

    fn columns<T: Columns>(&self) -> Result<T, sqlx::Error> {
        match self {
            Self::Sqlite(row) => T::from_row(row),
            Self::Postgres(row) => T::from_row(row),
        }
    }
}

/// A statement with its values, which gives rows as `T`.
#[must_use = "a statement has to be run"]
pub struct Statement<T> {
    sql: Sql,
    values: Vec<Value>,
    read: fn(Row) -> Result<T, sqlx::Error>,
}

/// A statement that gives rows, or only changes something.
pub fn query(sql: impl Into<Sql>) -> Statement<Row> {
    Statement::new(sql.into(), Ok)
}

/// A statement whose rows are read as `T`.
pub fn query_as<T: Columns>(sql: impl Into<Sql>) -> Statement<T> {
    Statement::new(sql.into(), |row| row.columns())
}

/// A statement of whose rows the first column is read as `T`.
pub fn query_scalar<T: Column>(sql: impl Into<Sql>) -> Statement<T> {
    Statement::new(sql.into(), |row| row.first())
}

/// What a statement changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed(u64);

impl Changed {
    /// Rows inserted, updated or deleted.
    pub fn rows_affected(self) -> u64 {
        self.0
    }
}

impl<T> Statement<T> {
    fn new(sql: Sql, read: fn(Row) -> Result<T, sqlx::Error>) -> Self {
        Self {
            sql,
            values: Vec::new(),
            read,
        }
    }

    /// Binds the next value: `$1`, then `$2`, ...
    pub fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Runs it and gives what it changed.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn execute(self, on: impl Into<On<'_>>) -> Result<Changed, sqlx::Error> {
        match on.into() {
            On::Pool(pool) => self.execute_on(&mut pool.acquire().await?).await,
            On::Connection(connection) => self.execute_on(connection).await,
        }
    }

    /// Runs it and gives every row.
    ///
    /// # Errors
    ///
    /// Those of the database, and where a row is not what it is read as.
    pub async fn fetch_all(self, on: impl Into<On<'_>>) -> Result<Vec<T>, sqlx::Error> {
        match on.into() {
            On::Pool(pool) => self.fetch_all_on(&mut pool.acquire().await?).await,
            On::Connection(connection) => self.fetch_all_on(connection).await,
        }
    }

    /// Runs it and gives the first row, if there is one.
    ///
    /// # Errors
    ///
    /// As for [`Statement::fetch_all`].
    pub async fn fetch_optional(self, on: impl Into<On<'_>>) -> Result<Option<T>, sqlx::Error> {
        match on.into() {
            On::Pool(pool) => self.fetch_optional_on(&mut pool.acquire().await?).await,
            On::Connection(connection) => self.fetch_optional_on(connection).await,
        }
    }

    /// Runs it and gives the first row.
    ///
    /// # Errors
    ///
    /// As for [`Statement::fetch_all`]; [`sqlx::Error::RowNotFound`] where there is none.
    pub async fn fetch_one(self, on: impl Into<On<'_>>) -> Result<T, sqlx::Error> {
        self.fetch_optional(on)
            .await?
            .ok_or(sqlx::Error::RowNotFound)
    }

    async fn execute_on(self, connection: &mut Connection) -> Result<Changed, sqlx::Error> {
        Ok(Changed(match connection.body() {
            Body::Sqlite(connection) => {
                let arguments = sqlite_arguments(self.values)?;
                let done = sqlx::query_with(self.sql.sqlite, arguments).execute(connection);
                done.await?.rows_affected()
            }
            Body::Postgres(connection) => {
                let arguments = postgres_arguments(self.values)?;
                let done = sqlx::query_with(self.sql.postgres, arguments).execute(connection);
                done.await?.rows_affected()
            }
        }))
    }

    async fn fetch_all_on(self, connection: &mut Connection) -> Result<Vec<T>, sqlx::Error> {
        let read = self.read;
        match connection.body() {
            Body::Sqlite(connection) => {
                let arguments = sqlite_arguments(self.values)?;
                let rows = sqlx::query_with(self.sql.sqlite, arguments).fetch_all(connection);
                rows.await?.into_iter().map(Row::Sqlite).map(read).collect()
            }
            Body::Postgres(connection) => {
                let arguments = postgres_arguments(self.values)?;
                let rows = sqlx::query_with(self.sql.postgres, arguments).fetch_all(connection);
                let rows = rows.await?.into_iter().map(Row::Postgres);
                rows.map(read).collect()
            }
        }
    }

    async fn fetch_optional_on(
        self,
        connection: &mut Connection,
    ) -> Result<Option<T>, sqlx::Error> {
        let row = match connection.body() {
            Body::Sqlite(connection) => {
                let arguments = sqlite_arguments(self.values)?;
                let row = sqlx::query_with(self.sql.sqlite, arguments).fetch_optional(connection);
                row.await?.map(Row::Sqlite)
            }
            Body::Postgres(connection) => {
                let arguments = postgres_arguments(self.values)?;
                let row = sqlx::query_with(self.sql.postgres, arguments).fetch_optional(connection);
                row.await?.map(Row::Postgres)
            }
        };
        row.map(self.read).transpose()
    }
}

fn sqlite_arguments(values: Vec<Value>) -> Result<SqliteArguments, sqlx::Error> {
    let mut arguments = SqliteArguments::default();
    for value in values {
        value.add_to_sqlite(&mut arguments)?;
    }
    Ok(arguments)
}

fn postgres_arguments(values: Vec<Value>) -> Result<PgArguments, sqlx::Error> {
    let mut arguments = PgArguments::default();
    for value in values {
        value.add_to_postgres(&mut arguments)?;
    }
    Ok(arguments)
}
