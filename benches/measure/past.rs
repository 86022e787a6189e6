//! A team's past, and what it reports today: of our own invention, many and varied, and the same in
//! every run.

use serde_json::{Value, json};

/// A kind of trouble. In its texts `{s}` is the service, `{d}` what it depends on, `{p}` a part of
/// it, `{n}` a number.
struct Trouble {
    title: &'static str,
    symptoms: [&'static str; 2],
    signature: &'static str,
    cause: &'static str,
    fix: &'static str,
}

const TROUBLES: &[Trouble] = &[
    Trouble {
        title: "{s} answers 503, pool of {d} exhausted",
        symptoms: ["intermittent 503s", "no free connection to {d}"],
        signature: "PoolTimeout: no connection to {d} within {n}000 ms (active={n}, idle=0)",
        cause: "The {p} keeps connections to {d} open over retries",
        fix: "Stop the {p} and restart {s}",
    },
    Trouble {
        title: "{s} killed for memory while {p} runs",
        symptoms: [
            "pods restart every few minutes",
            "latency rises before each restart",
        ],
        signature: "OOMKilled: container {s} exceeded its limit of {n}00 Mi",
        cause: "The {p} loads every row of {d} at once",
        fix: "Read {d} in pages in the {p}",
    },
    Trouble {
        title: "Certificate of {d} expired, {s} can't connect",
        symptoms: ["every call to {d} fails", "handshakes fail since midnight"],
        signature: "x509: certificate has expired or is not yet valid: {d}.internal:{n}443",
        cause: "Renewal for {d} ran and the {p} was never reloaded",
        fix: "Renew the certificate of {d} and reload the {p}",
    },
    Trouble {
        title: "{s} times out on {d} after a deploy",
        symptoms: ["p99 above {n} s", "requests time out at the gateway"],
        signature: "context deadline exceeded calling {d}: {p} took {n}012ms",
        cause: "A missing index makes the {p} scan {d}",
        fix: "Roll {s} back and add the index the {p} needs",
    },
    Trouble {
        title: "Disk full on {d}, {s} drops writes",
        symptoms: ["writes fail, reads work", "disk at 100 %"],
        signature: "ENOSPC: no space left on device, write /var/lib/{d}/segment-{n}",
        cause: "The {p} never removes old segments",
        fix: "Remove segments older than a week and turn on retention in the {p}",
    },
    Trouble {
        title: "Deadlocks in {d} block {s}",
        symptoms: ["some requests hang and then fail", "lock waits pile up"],
        signature: "ERROR: deadlock detected; process {n} waits for ShareLock on {p}",
        cause: "The {p} locks rows in another order than {s}",
        fix: "Sort rows before locking in the {p}",
    },
    Trouble {
        title: "Queue of {s} grows, consumers of {d} are stuck",
        symptoms: ["lag rises by {n}00 a minute", "nothing is consumed"],
        signature: "CommitFailedError: offset commit of group {s}-{p} failed, rebalance in progress",
        cause: "A poison message makes the {p} crash before it commits",
        fix: "Skip the message and add a dead letter topic for the {p}",
    },
    Trouble {
        title: "{s} refused by {d} with 429",
        symptoms: ["a third of calls are refused", "retries make it worse"],
        signature: "HTTP 429 from {d}: quota of {n}00 per minute exceeded by {p}",
        cause: "The {p} retries without a pause",
        fix: "Back off with jitter in the {p} and ask {d} for a higher quota",
    },
    Trouble {
        title: "Names don't resolve in {s}",
        symptoms: ["lookups fail now and then", "only new pods are affected"],
        signature: "getaddrinfo ENOTFOUND {d}.svc.cluster.local after {n} tries",
        cause: "The resolver's {p} is short of file descriptors",
        fix: "Raise the limit of the {p} and restart the resolver",
    },
    Trouble {
        title: "Wrong prices from {s} after a flag change",
        symptoms: [
            "customers see yesterday's prices",
            "cache hits are at 100 %",
        ],
        signature: "WARN {p}: serving stale entry, version {n} behind {d}",
        cause: "The flag turned off invalidation between {d} and the {p}",
        fix: "Turn the flag back and clear the {p}",
    },
    Trouble {
        title: "{s} crashes at start: configuration of {p} missing",
        symptoms: ["new pods never become ready", "old pods still serve"],
        signature: "panic: required key {p}.endpoint is not set (release {n})",
        cause: "The release renamed a key that {d} provides",
        fix: "Set the key of the {p} and roll {s} again",
    },
    Trouble {
        title: "Replica of {d} lags, {s} reads old data",
        symptoms: ["orders appear minutes late", "replication lag {n}0 s"],
        signature: "replication slot {p} is {n}12 MB behind on {d}",
        cause: "A long report on the replica holds the {p} back",
        fix: "End the report and read {s} from the primary",
    },
    Trouble {
        title: "Login fails in {s}: token of {d} rejected",
        symptoms: ["users are logged out", "401 on every second request"],
        signature: "JWTVerificationError: kid {p}-{n} not found in keys of {d}",
        cause: "Keys of {d} rotated and the {p} caches them for a day",
        fix: "Reload keys in the {p} and cache them for minutes",
    },
    Trouble {
        title: "{s} slow: garbage collection of {p}",
        symptoms: ["pauses of {n} s", "processor at 100 %"],
        signature: "GC overhead limit exceeded in {p}, heap {n}024M",
        cause: "The {p} keeps every answer of {d} in a map",
        fix: "Bound the map of the {p} and restart {s}",
    },
    Trouble {
        title: "Webhooks from {d} are lost by {s}",
        symptoms: ["payments stay pending", "no webhook since the change"],
        signature: "signature mismatch for webhook {n} of {d} in {p}",
        cause: "The proxy before the {p} rewrites bodies",
        fix: "Pass bodies through unchanged and replay webhooks of {d}",
    },
    Trouble {
        title: "Network between {s} and {d} drops packets",
        symptoms: ["connections reset", "retransmissions rise"],
        signature: "read tcp {d}:{n}32: connection reset by peer ({p})",
        cause: "The node's {p} table is full",
        fix: "Enlarge the {p} table and drain the node",
    },
];

const DOMAINS: &[&str] = &[
    "payments", "checkout", "orders", "catalog", "search", "accounts", "billing", "shipping",
    "ledger", "mail", "media", "reports", "pricing", "sessions", "refunds",
];
const ROLES: &[&str] = &["api", "worker", "gateway", "sync"];
const DEPENDENCIES: &[&str] = &[
    "postgres-main",
    "redis-cart",
    "kafka-events",
    "vault",
    "stripe-proxy",
    "object-store",
    "identity",
    "elastic-logs",
    "rabbit-jobs",
    "geo-lookup",
    "tax-service",
    "mysql-legacy",
];
const PARTS: &[&str] = &[
    "refund job",
    "coupon cache",
    "export task",
    "webhook receiver",
    "price index",
    "session cleaner",
    "image scaler",
    "invoice printer",
    "retry loop",
    "audit writer",
    "stock counter",
    "rate table",
    "connection tracker",
    "feed reader",
    "token store",
    "search indexer",
    "mail batcher",
    "currency table",
    "address checker",
    "fraud scorer",
];

/// The same numbers in every run.
struct Numbers(u64);

impl Numbers {
    fn of(seed: u32) -> Self {
        Self(u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap_or_default()
    }

    fn one<T: Copy>(&mut self, of: &[T], otherwise: T) -> T {
        of.get(self.below(of.len())).copied().unwrap_or(otherwise)
    }
}

/// What stands in the texts' places.
struct Scene {
    trouble: &'static Trouble,
    service: String,
    dependency: &'static str,
    part: &'static str,
}

impl Scene {
    fn of(numbers: &mut Numbers) -> Self {
        let trouble = TROUBLES
            .get(numbers.below(TROUBLES.len()))
            .unwrap_or(&TROUBLES[0]);
        Self {
            trouble,
            service: format!(
                "{}-{}",
                numbers.one(DOMAINS, "payments"),
                numbers.one(ROLES, "api")
            ),
            dependency: numbers.one(DEPENDENCIES, "vault"),
            part: numbers.one(PARTS, "refund job"),
        }
    }

    fn say(&self, text: &str, numbers: &mut Numbers) -> String {
        text.replace("{s}", &self.service)
            .replace("{d}", self.dependency)
            .replace("{p}", self.part)
            .replace("{n}", &(numbers.below(90) + 2).to_string())
    }
}

/// A past incident, as a line of an import.
pub fn incident(number: u32) -> Value {
    let mut numbers = Numbers::of(number);
    let scene = Scene::of(&mut numbers);
    let (year, month, day) = (
        2023 + numbers.below(3),
        1 + numbers.below(12),
        1 + numbers.below(28),
    );
    let (hour, minute) = (numbers.below(22), numbers.below(60));
    let trouble = scene.trouble;
    json!({
        "id": format!("INC-{number:04}"),
        "title": scene.say(trouble.title, &mut numbers),
        "service": scene.service,
        "environment": "prod",
        "started_at": format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:00Z"),
        "resolved_at": format!("{year}-{month:02}-{day:02}T{:02}:{minute:02}:00Z", hour + 1),
        "symptoms": trouble.symptoms.map(|symptom| scene.say(symptom, &mut numbers)),
        "error_signatures": [scene.say(trouble.signature, &mut numbers)],
        "root_cause": scene.say(trouble.cause, &mut numbers),
        "fix": scene.say(trouble.fix, &mut numbers),
        "outcome": numbers.one(&["held", "held", "held", "mitigated", "no_effect", "unknown"], "held"),
        "ruled_out": ["a deploy: none was made that day"],
        "prevention": scene.say("Alert on the {p} before {d} feels it", &mut numbers),
    })
}

/// What somebody types today: a sentence or two, the error, and every third time some lines of a
/// log around it.
pub fn report(number: u32) -> String {
    let mut numbers = Numbers::of(number.wrapping_add(1_000_003));
    let scene = Scene::of(&mut numbers);
    let trouble = scene.trouble;
    let mut text = format!(
        "{}: {} since {:02}:{:02} UTC, {}.\n",
        scene.service,
        scene.say(trouble.symptoms[0], &mut numbers),
        numbers.below(24),
        numbers.below(60),
        scene.say(trouble.symptoms[1], &mut numbers),
    );
    if number.is_multiple_of(3) {
        for line in 0..24 {
            text.push_str(&format!(
                "2026-11-30T02:{:02}:{:02}.{:03}Z INFO [{}] request {:08x} of {} took {} ms\n",
                numbers.below(60),
                numbers.below(60),
                line,
                scene.part,
                numbers.below(1 << 30),
                scene.dependency,
                numbers.below(900),
            ));
        }
    }
    text.push_str(&scene.say(trouble.signature, &mut numbers));
    text.push_str("\nNothing was deployed in the last hour.");
    text
}
