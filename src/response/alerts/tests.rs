//! Messages in English and Chinese, all of our own, with what is to be read in each.

use super::*;
use crate::incident::Severity;
use crate::incident::change::{ChangeKind, ChangeSource, ChangeStage};
use crate::incident::service::Service;
use proptest::prelude::*;

fn registry() -> Registry {
    let mut registry = Registry::from_names([
        "auth-gateway",
        "billing",
        "checkout",
        "order-service",
        "payments-api",
        "search",
    ]);
    for service in &mut registry.services {
        match service.name.as_str() {
            "payments-api" => service.aliases = vec!["支付服务".to_owned()],
            "billing" => service.repository = "https://github.com/acme/money".to_owned(),
            _ => {}
        }
    }
    registry
}

fn content(text: &str) -> Post {
    Post {
        by: Writer::Webhook,
        author: "alerts".to_owned(),
        content: text.to_owned(),
        at_ms: 1_790_000_000_000,
        ..Post::default()
    }
}

fn boxed(title: &str, description: &str) -> Post {
    let mut post = content("");
    post.embeds.push(Embed {
        title: title.to_owned(),
        description: description.to_owned(),
        ..Embed::default()
    });
    post
}

impl Post {
    fn from(mut self, author: &str) -> Self {
        self.author = author.to_owned();
        self
    }

    fn by(mut self, writer: Writer) -> Self {
        self.by = writer;
        self
    }

    fn field(mut self, name: &str, value: &str) -> Self {
        if let Some(embed) = self.embeds.last_mut() {
            embed.fields.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    fn footer(mut self, footer: &str) -> Self {
        if let Some(embed) = self.embeds.last_mut() {
            embed.footer = footer.to_owned();
        }
        self
    }

    fn author_line(mut self, author: &str) -> Self {
        if let Some(embed) = self.embeds.last_mut() {
            embed.author = author.to_owned();
        }
        self
    }

    fn url(mut self, url: &str) -> Self {
        if let Some(embed) = self.embeds.last_mut() {
            embed.url = url.to_owned();
        }
        self
    }

    fn and(mut self, other: Self) -> Self {
        self.embeds.extend(other.embeds);
        self
    }

    fn saying(mut self, text: &str) -> Self {
        self.content = text.to_owned();
        self
    }
}

/// One alert in Alertmanager's and Grafana's list.
fn listed(labels: &[(&str, &str)], summary: &str) -> String {
    let mut text = "Labels:\n".to_owned();
    for (name, value) in labels {
        text.push_str(&format!(" - {name} = {value}\n"));
    }
    text.push_str(&format!(
        "Annotations:\n - summary = {summary}\nSource: http://prometheus:9090/graph?g0.expr=x\n"
    ));
    text
}

/// A line an alert: status, source, name, service, level and proposal, numbers.
fn shown(read: &Result<Reading, NotAnAlert>) -> Vec<String> {
    let reading = match read {
        Ok(reading) => reading,
        Err(reason) => return vec![reason.to_string()],
    };
    let mut lines: Vec<String> = reading
        .alerts
        .iter()
        .map(|alert| {
            let status = match alert.status() {
                AlertStatus::Firing => "FIRING",
                AlertStatus::Resolved => "RESOLVED",
            };
            let mut line = format!("{status} {} '{}'", alert.source.name(), alert.name);
            if let Some(service) = &alert.service {
                let mark = if service.registered { "@" } else { "@?" };
                line.push_str(&format!(" {mark}{}", service.name));
            }
            if let Some(level) = &alert.level {
                line.push_str(&format!(" {level}"));
            }
            if let Some(severity) = alert.severity {
                line.push_str(&format!(" {severity}"));
            }
            if (alert.firing, alert.resolved) != (1, 0) && (alert.firing, alert.resolved) != (0, 1)
            {
                line.push_str(&format!(" {}+{}", alert.firing, alert.resolved));
            }
            if alert.purpose != Purpose::Fault {
                line.push_str(&format!(" {:?}", alert.purpose));
            }
            line
        })
        .collect();
    if reading.unread != Unread::default() {
        let Unread { firing, resolved } = reading.unread;
        lines.push(format!("unread {firing}+{resolved}"));
    }
    if reading.cut {
        lines.push("cut".to_owned());
    }
    lines
}

fn check(name: &str, post: &Post, expected: &[&str]) {
    assert_eq!(shown(&read(post, &registry())), expected, "{name}");
}

const HIGH: &[(&str, &str)] = &[
    ("alertname", "HighErrorRate"),
    ("env", "prod"),
    ("instance", "10.1.2.3:8080"),
    ("job", "payments-api"),
    ("severity", "critical"),
];

#[test]
fn alertmanager() {
    let firing = listed(HIGH, "5xx above 5 %");
    check(
        "its own template",
        &boxed(
            "[FIRING:1] HighErrorRate (prod 10.1.2.3:8080 payments-api critical)",
            &format!("\n\nAlerts Firing:\n{firing}\n\n"),
        ),
        &["FIRING Alertmanager 'HighErrorRate' @payments-api critical SEV2"],
    );
    check(
        "resolved",
        &boxed(
            "[RESOLVED] HighErrorRate",
            &format!("Alerts Resolved:\n{firing}"),
        ),
        &["RESOLVED Alertmanager 'HighErrorRate' @payments-api critical SEV2"],
    );
    let other = listed(
        &[
            ("alertname", "HighErrorRate"),
            ("job", "search"),
            ("severity", "warning"),
        ],
        "x",
    );
    check(
        "fires here, is over there",
        &boxed(
            "[FIRING:1] HighErrorRate",
            &format!("Alerts Firing:\n{firing}\nAlerts Resolved:\n{other}"),
        ),
        &[
            "FIRING Alertmanager 'HighErrorRate' @payments-api critical SEV2",
            "RESOLVED Alertmanager 'HighErrorRate' @search warning SEV3",
        ],
    );
    check(
        "three copies of one service are one broken thing",
        &boxed(
            "[FIRING:3] HighErrorRate (critical)",
            &format!("Alerts Firing:\n{firing}{firing}{firing}"),
        ),
        &["FIRING Alertmanager 'HighErrorRate' @payments-api critical SEV2 3+0"],
    );
    check(
        "one copy well again, one not: it still fires",
        &boxed(
            "[FIRING:1] HighErrorRate",
            &format!("Alerts Firing:\n{firing}Alerts Resolved:\n{firing}"),
        ),
        &["FIRING Alertmanager 'HighErrorRate' @payments-api critical SEV2 1+1"],
    );
    check(
        "the words of a firing alert say that something is resolved",
        &boxed(
            "[FIRING:1] DnsNotResolved",
            &format!(
                "Alerts Firing:\n{}",
                listed(
                    &[("alertname", "DnsNotResolved"), ("service", "checkout")],
                    "RESOLVED\nAlerts Resolved:\n[RESOLVED] all is well, resolved"
                )
            ),
        ),
        &["FIRING Alertmanager 'DnsNotResolved' @checkout"],
    );
    check(
        "no list: the heading and its values",
        &boxed("[FIRING:2] HighLatency eu (order-service critical)", ""),
        &[
            "FIRING Alertmanager 'HighLatency' @order-service critical SEV2",
            "unread 1+0",
        ],
    );
    check(
        "cut within the labels of the second",
        &boxed(
            "[FIRING:2] HighErrorRate",
            &format!(
                "Alerts Firing:\n{firing}Labels:\n - alertname = HighErrorRate\n - job = sea…"
            ),
        ),
        &[
            "FIRING Alertmanager 'HighErrorRate' @payments-api critical SEV2",
            "unread 1+0",
            "cut",
        ],
    );
    check(
        "cut behind the service of the second",
        &boxed(
            "[FIRING:3] HighErrorRate",
            &format!(
                "Alerts Firing:\n{firing}Labels:\n - alertname = HighErrorRate\n - job = search\n - name…"
            ),
        ),
        &[
            "FIRING Alertmanager 'HighErrorRate' @payments-api critical SEV2",
            "FIRING Alertmanager 'HighErrorRate' @search",
            "unread 1+0",
            "cut",
        ],
    );
    check(
        "cut within the annotations of the last",
        &boxed(
            "[FIRING:1] HighErrorRate",
            "Alerts Firing:\nLabels:\n - alertname = HighErrorRate\n - job = search\nAnnotations:\n - summary = wh…",
        ),
        &["FIRING Alertmanager 'HighErrorRate' @search", "cut"],
    );
    check(
        "what watches is not what is broken",
        &boxed(
            "[FIRING:1] KubePodCrashLooping",
            &format!(
                "Alerts Firing:\n{}",
                listed(
                    &[
                        ("alertname", "KubePodCrashLooping"),
                        ("job", "kube-state-metrics"),
                        ("pod", "search-6d9f7c5b4-x2k8q"),
                    ],
                    "x"
                )
            ),
        ),
        &["FIRING Alertmanager 'KubePodCrashLooping' @search"],
    );
    check(
        "nothing names a service",
        &boxed(
            "[FIRING:1] NodeDown",
            &format!(
                "Alerts Firing:\n{}",
                listed(
                    &[("alertname", "NodeDown"), ("job", "node-exporter")],
                    "checkout may suffer, or search"
                )
            ),
        ),
        &["FIRING Alertmanager 'NodeDown'"],
    );
    check(
        "a service that is not registered, as it is written",
        &boxed(
            "[FIRING:1] Down",
            &format!(
                "Alerts Firing:\n{}",
                listed(
                    &[
                        ("alertname", "Down"),
                        ("service", "fraud-scorer"),
                        ("namespace", "search")
                    ],
                    "x"
                )
            ),
        ),
        &["FIRING Alertmanager 'Down' @?fraud-scorer"],
    );
    check(
        "the alert that always fires",
        &boxed(
            "[FIRING:1] Watchdog (none)",
            &format!(
                "Alerts Firing:\n{}",
                listed(&[("alertname", "Watchdog"), ("severity", "none")], "x")
            ),
        ),
        &["FIRING Alertmanager 'Watchdog' none SEV4 Heartbeat"],
    );
    check(
        "a hand-made template",
        &content(
            "@here 🔥 **[FIRING:1] DiskFull**\n**Severity:** `critical`\n**Service:** payments api\n**Summary:** 2 % left\n[Runbook](https://wiki.test/disk)",
        ),
        &["FIRING Alertmanager 'DiskFull' @payments-api critical SEV2"],
    );
    check(
        "a hand-made template, in Chinese",
        &boxed(
            "【告警中】支付服务错误率过高",
            "级别：严重\n环境：prod\n摘要：5xx 超过 5%",
        ),
        &["FIRING Alertmanager '支付服务错误率过高' @payments-api 严重 SEV2"],
    );
    check(
        "and its end",
        &boxed("✅【已恢复】支付服务错误率过高", "级别：严重\n环境：prod"),
        &["RESOLVED Alertmanager '支付服务错误率过高' @payments-api 严重 SEV2"],
    );
    check(
        "lines with a status, in Chinese",
        &content("告警名称：数据库连接耗尽\n状态：触发\n级别：警告\n服务：billing"),
        &["FIRING Alertmanager '数据库连接耗尽' @billing 警告 SEV3"],
    );
    check(
        "a bridge that writes a field an alert",
        &boxed("Alerts", "")
            .field(
                "[FIRING]: HighErrorRate on 10.1.2.3:80",
                "payments-api fails\nseverity: page",
            )
            .field("[RESOLVED]: DiskFull on db-1:9100", "fine"),
        &[
            "FIRING Alertmanager 'HighErrorRate' @payments-api page SEV2",
            "RESOLVED Alertmanager 'DiskFull'",
        ],
    );
    check(
        "the same box twice is one alert",
        &boxed(
            "[FIRING:1] HighErrorRate",
            &format!("Alerts Firing:\n{firing}"),
        )
        .and(boxed(
            "[FIRING:1] HighErrorRate",
            &format!("Alerts Firing:\n{firing}"),
        )),
        &["FIRING Alertmanager 'HighErrorRate' @payments-api critical SEV2"],
    );
    check(
        "a box without a title",
        &boxed(
            "",
            &format!("**[FIRING:1] HighErrorRate**\nAlerts Firing:\n{firing}"),
        ),
        &["FIRING Alertmanager 'HighErrorRate' @payments-api critical SEV2"],
    );
    check(
        "a webhook that writes all in a block of code",
        &content("```\n[FIRING:1] HighErrorRate\nseverity: P1\nservice: checkout\n```"),
        &["FIRING Alertmanager 'HighErrorRate' @checkout P1 SEV2"],
    );
}

#[test]
fn grafana() {
    let firing = listed(HIGH, "5xx above 5 %");
    let lists = |text: &str, title: &str| {
        boxed(title, "")
            .saying(text)
            .from("Grafana")
            .footer("Grafana v11.4.0")
    };
    check(
        "its own template",
        &lists(
            &format!("**Firing**\n\nValue: A=3\n{firing}Silence: https://g.test/silence\n"),
            "[FIRING:1] HighErrorRate (payments-api critical)",
        ),
        &["FIRING Grafana 'HighErrorRate' @payments-api critical SEV2"],
    );
    let search = firing.replace("payments-api", "search");
    check(
        "both, in one message",
        &lists(
            &format!(
                "**Firing**\n\nValue: A=3\n{firing}\nValue: A=4\n{firing}\n**Resolved**\n\nValue: A=0\n{search}"
            ),
            "[FIRING:2, RESOLVED:1] HighErrorRate (critical)",
        ),
        &[
            "FIRING Grafana 'HighErrorRate' @payments-api critical SEV2 2+0",
            "RESOLVED Grafana 'HighErrorRate' @search critical SEV2",
        ],
    );
    check(
        "cut: what is not shown belongs to no service",
        &lists(
            &format!("**Firing**\n\nValue: A=3\n{firing}\nValue: A=4\nLabels:\n - alertname = Hi…"),
            "[FIRING:5, RESOLVED:3] HighErrorRate (critical)",
        ),
        &[
            "FIRING Grafana 'HighErrorRate' @payments-api critical SEV2",
            "unread 4+3",
            "cut",
        ],
    );
    check(
        "the button *Test*",
        &lists(
            &format!(
                "**Firing**\n\nValue: [no value]\n{}",
                listed(&[("alertname", "TestAlert"), ("instance", "Grafana")], "x")
            ),
            "[FIRING:1] TestAlert (Grafana)",
        ),
        &["FIRING Grafana 'TestAlert' Test"],
    );
    check(
        "the old form",
        &boxed("[Alerting] Checkout latency", "p99 above 2 s").footer("Grafana v6.7"),
        &["FIRING Grafana 'Checkout latency' @checkout"],
    );
}

#[test]
fn uptime_kuma() {
    let kuma = |title: &str, name: &str, url: &str| {
        boxed(title, "")
            .from("Uptime Kuma")
            .field("Service Name", name)
            .field("Service URL", url)
            .field("Went Offline", "<t:1790000000:F>")
    };
    let post = kuma(
        "❌ Your service search went down. ❌",
        "search",
        "https://search.test/",
    );
    check("down", &post, &["FIRING Uptime Kuma 'search' @search"]);
    let started = read(&post, &registry()).map(|reading| reading.alerts[0].started_ms);
    assert_eq!(started, Ok(Some(1_790_000_000_000)));
    check(
        "up",
        &kuma(
            "✅ Your service Checkout page is up! ✅",
            "Checkout page",
            "https://shop.test/",
        ),
        &["RESOLVED Uptime Kuma 'Checkout page' @checkout"],
    );
    check(
        "a monitor that is called like a state",
        &kuma(
            "❌ Your service backup is up went down. ❌",
            "backup is up",
            "",
        ),
        &["FIRING Uptime Kuma 'backup is up' @?backup is up"],
    );
    check(
        "in Chinese",
        &kuma(
            "❌ Your service 支付服务 went down. ❌",
            "支付服务",
            "https://pay.test/",
        ),
        &["FIRING Uptime Kuma '支付服务' @payments-api"],
    );
    check(
        "the general form",
        &content("[billing] [🔴 Down] timeout of 48000ms exceeded"),
        &["FIRING Uptime Kuma 'billing' @billing"],
    );
    check(
        "its test",
        &content("My Discord Alert (1) Testing").from("Uptime Kuma"),
        &["no known form of an alert"],
    );
}

#[test]
fn uptime_robot() {
    check(
        "down",
        &content(
            "Monitor is DOWN: Search page (https://search.test/x) - Reason: Connection Timeout",
        )
        .from("UptimeRobot"),
        &["FIRING UptimeRobot 'Search page' @search"],
    );
    check(
        "up",
        &content("Monitor is UP: Search page (https://search.test/x) - It was down for 5 minutes"),
        &["RESOLVED UptimeRobot 'Search page' @search"],
    );
    check(
        "with the preview of its address",
        &boxed("Acme shop", "Buy things")
            .saying("Monitor is DOWN: Search page (https://search.test/x)"),
        &["FIRING UptimeRobot 'Search page' @search"],
    );
    check(
        "in a box",
        &boxed("🔴 Order API is down", "")
            .from("UptimeRobot")
            .field("Monitor URL", "https://order-service.test/"),
        &["FIRING UptimeRobot 'Order API' @order-service"],
    );
}

#[test]
fn datadog() {
    check(
        "with the host that it is about",
        &boxed(
            "[P2] [Triggered on {host:ip-10-0-3-4,service:order-service}] Host is Down",
            "%%%\n@webhook-discord Host is down\n\nTags: env:prod, team:x\n[[Monitor Status](https://app.datadoghq.com/monitors/1)]\n%%%",
        ),
        &["FIRING Datadog 'Host is Down' @order-service P2 SEV2"],
    );
    check(
        "its end",
        &boxed(
            "[P2] [Recovered on {host:ip-10-0-3-9,service:order-service}] Host is Down",
            "%%%\nTags: env:prod\n%%%",
        ),
        &["RESOLVED Datadog 'Host is Down' @order-service P2 SEV2"],
    );
    check(
        "a warning, and a name that begins with a bracket",
        &content("[Warn] [EU] Checkout latency is high\nhttps://app.datadoghq.com/monitors/1"),
        &["FIRING Datadog '[EU] Checkout latency is high' @checkout warning SEV3"],
    );
    check(
        "a test",
        &boxed("[TEST] [Triggered] Search errors", ""),
        &["FIRING Datadog 'Search errors' @search Test"],
    );
    check(
        "no data",
        &boxed("[No Data] 支付服务心跳", "").from("Datadog"),
        &["FIRING Datadog '支付服务心跳' @payments-api"],
    );
}

#[test]
fn pager_duty() {
    let page = |title: &str| boxed(title, "").url("https://acme.pagerduty.com/incidents/PX1");
    check(
        "state first",
        &page("Triggered: [#123] Checkout error rate").field("Urgency", "high"),
        &["FIRING PagerDuty 'Checkout error rate' @checkout high SEV2"],
    );
    check(
        "number first, and a title with a state in it",
        &page("Incident #123 resolved: DNS not resolved")
            .field("Service", "search")
            .field("Priority", "P1"),
        &["RESOLVED PagerDuty 'DNS not resolved' @search P1 SEV2"],
    );
    check(
        "state as a field",
        &page("[#9] 支付服务超时").field("状态", "已触发"),
        &["FIRING PagerDuty '支付服务超时' @payments-api"],
    );
    check(
        "acknowledged changes nothing",
        &page("Acknowledged: [#123] Checkout error rate"),
        &["about an alert of PagerDuty, changes nothing"],
    );
    check(
        "a title alone has no state",
        &page("[#9] DNS not resolved"),
        &["no known form of an alert"],
    );
}

#[test]
fn sentry() {
    let issue = |title: &str| {
        boxed(title, "order.total")
            .url("https://acme.sentry.io/issues/55/")
            .footer("PAYMENTS-API-3F via All issues")
    };
    check(
        "an issue",
        &issue("TypeError: can't read 'total'")
            .field("environment", "prod")
            .field("level", "error"),
        &["FIRING Sentry 'TypeError: can't read 'total'' @payments-api error SEV3"],
    );
    check(
        "an error about what is resolved fires",
        &issue("Error: issue resolved twice"),
        &["FIRING Sentry 'Error: issue resolved twice' @payments-api"],
    );
    check(
        "its end",
        &issue("TypeError: can't read 'total'").saying("Ana marked PAYMENTS-API-3F as resolved"),
        &["RESOLVED Sentry 'TypeError: can't read 'total'' @payments-api"],
    );
    check(
        "a rule on a metric",
        &boxed(
            "**Critical: Search failure rate**",
            "0.3 in the last 10 minutes",
        )
        .from("Sentry"),
        &["FIRING Sentry 'Search failure rate' @search critical SEV2"],
    );
    check(
        "and its end",
        &boxed("**Resolved: Search failure rate**", "0.01").from("Sentry"),
        &["RESOLVED Sentry 'Search failure rate' @search"],
    );
    check(
        "assigned changes nothing",
        &issue("TypeError: x").saying("Ana assigned PAYMENTS-API-3F to Ben"),
        &["about an alert of Sentry, changes nothing"],
    );
}

#[test]
fn github() {
    let hub = |title: &str| {
        boxed(title, "")
            .author_line("ana")
            .url("https://github.com/acme/search/actions/1")
    };
    check(
        "a check that failed on main",
        &hub("[acme/search] CI failed on main"),
        &["FIRING GitHub 'CI' @search"],
    );
    check(
        "and is well again",
        &hub("[acme/search] CI succeeded on main"),
        &["RESOLVED GitHub 'CI' @search"],
    );
    check(
        "beside the main branch it hurts nobody",
        &hub("[acme/search:feat/x] CI workflow run failed"),
        &["FIRING GitHub 'CI' @search info SEV4"],
    );
    check(
        "a hole in a dependency",
        &hub("[acme/search] Dependabot alert opened: #12 left-pad").field("Severity", "high"),
        &["FIRING GitHub 'dependabot alert: left-pad' @search high SEV2"],
    );
    check(
        "an issue is no alert",
        &hub("[acme/search] Issue opened: #3 search is down"),
        &["no known form of an alert"],
    );
    check(
        "nor is one about a failure",
        &hub("[acme/search] Pull request opened: #4 Tell why search failed"),
        &["no known form of an alert"],
    );
    check(
        "a push is no alert",
        &hub("[acme/search:main] 2 new commits"),
        &["no known form of an alert"],
    );
    check(
        "cancelled",
        &hub("[acme/search] CI cancelled on main"),
        &["about an alert of GitHub, changes nothing"],
    );
}

#[test]
fn what_is_no_alert() {
    let alert = "[FIRING:1] HighErrorRate\nservice: checkout";
    for (name, post, expected) in [
        (
            "a person quotes one",
            content(&format!("look:\n> {alert}")).by(Writer::Person),
            "written by a person",
        ),
        (
            "a person pastes one",
            content(&format!("```\n{alert}\n```")).by(Writer::Person),
            "written by a person",
        ),
        (
            "a person forwards one",
            boxed("[FIRING:1] X", "").by(Writer::Person),
            "written by a person",
        ),
        (
            "this bot tells of one",
            content(alert).by(Writer::Us),
            "written by this bot",
        ),
        (
            "another bot quotes one",
            content("> [FIRING:1] HighErrorRate\n> service: checkout").by(Writer::Bot),
            "no text",
        ),
        (
            "a bot explains the form",
            content("An alert looks like this: [FIRING:1] HighErrorRate").by(Writer::Bot),
            "no known form of an alert",
        ),
        (
            "a bot talks",
            content("Good morning! Is checkout down?").by(Writer::Bot),
            "no known form of an alert",
        ),
        (
            "emoji alone",
            content("🔥🔥🔥"),
            "no known form of an alert",
        ),
        ("nothing", content(" \n "), "no text"),
        ("an empty box", boxed("", ""), "no text"),
        (
            "an unknown source",
            boxed("Disk usage at 94 % on db-1", "please look"),
            "no known form of an alert",
        ),
        (
            "an unknown bracket",
            boxed("[ACME] checkout is down", ""),
            "no known form of an alert",
        ),
        (
            "a bracket that never ends",
            content("[FIRING:1 HighErrorRate"),
            "no known form of an alert",
        ),
        (
            "闲聊",
            content("支付服务今天恢复正常了吗？").by(Writer::Bot),
            "no known form of an alert",
        ),
    ] {
        check(name, &post, &[expected]);
    }
}

#[test]
fn the_words_of_an_alert_are_data() {
    let post = boxed(
        "[FIRING:1] HighErrorRate (critical)",
        &format!(
            "Alerts Firing:\n{}",
            listed(
                &[
                    ("alertname", "HighErrorRate"),
                    ("service", "checkout"),
                    ("note", "@everyone <@1> [click](https://evil.test/?x)"),
                ],
                "@everyone [docs](javascript:alert(1)) resolved",
            )
        ),
    )
    .saying("@everyone <@&77>")
    .url("javascript:alert(1)");
    let reading = read(&post, &registry()).expect("an alert");
    let alert = &reading.alerts[0];
    assert_eq!(alert.status(), AlertStatus::Firing);
    assert_eq!(alert.severity, Some(Severity::Sev2));
    // Only plain addresses, and none from a label's words.
    let links: Vec<&str> = alert
        .links
        .iter()
        .map(|link| link.address.as_str())
        .collect();
    assert_eq!(links, ["http://prometheus:9090/graph?g0.expr=x"]);

    let masked = content(
        "[FIRING:1] DiskFull\n[https://good.test](https://evil.test/a) [Dashboard](<https://g.test/d/1>) [x](ftp://x)",
    );
    let reading = read(&masked, &registry()).expect("an alert");
    let links: Vec<(LinkTo, &str)> = reading.alerts[0]
        .links
        .iter()
        .map(|link| (link.to, link.address.as_str()))
        .collect();
    assert_eq!(
        links,
        [
            (LinkTo::Source, "https://evil.test/a"),
            (LinkTo::Dashboard, "https://g.test/d/1"),
        ]
    );
}

#[test]
fn long_and_many() {
    let long = boxed("[FIRING:1] HighErrorRate", &"payments-api … ".repeat(400));
    let reading = read(&long, &registry()).expect("an alert");
    assert!(reading.alerts[0].summary.chars().count() <= LONGEST_SUMMARY);
    let many: String = (0..300)
        .map(|at| listed(&[("alertname", "A"), ("service", &format!("s{at}x"))], ""))
        .collect();
    let reading = read(
        &boxed("[FIRING:300] A", &format!("Alerts Firing:\n{many}")),
        &registry(),
    )
    .expect("alerts");
    assert_eq!(
        (reading.alerts.len(), reading.unread.firing, reading.count()),
        (MOST_ALERTS, 100, 300)
    );
}

#[test]
fn firing_and_its_end_have_one_key() {
    let with_pod = |pod: &str, value: &str| {
        let mut labels = HIGH.to_vec();
        labels.push(("pod", pod));
        listed(&labels, value)
    };
    let pairs = [
        (
            boxed(
                "[FIRING:1] HighErrorRate",
                &format!(
                    "Alerts Firing:\n{}",
                    with_pod("payments-api-6d9f7c5b4-x2k8q", "is 12 %")
                ),
            ),
            boxed(
                "[RESOLVED] HighErrorRate",
                &format!(
                    "Alerts Resolved:\n{}",
                    with_pod("payments-api-77c9d8b6f-zz2k4", "is 1 %")
                ),
            ),
        ),
        (
            boxed("❌ Your service search went down. ❌", "")
                .field("Service Name", "search")
                .field("Error", "timeout"),
            boxed("✅ Your service search is up! ✅", "")
                .field("Service Name", "search")
                .field("Ping", "37ms"),
        ),
        (
            content("Monitor is DOWN: Shop (https://shop.test) - Reason: 502"),
            content("Monitor is UP: Shop (https://shop.test) - It was down for 3 minutes"),
        ),
        (
            boxed(
                "[Triggered on {host:i-0abcdef12,env:prod}] CPU is above 90 %",
                "%%%",
            ),
            boxed(
                "[Recovered on {host:i-0abcdef99,env:production}] CPU is above 90 %",
                "%%%",
            ),
        ),
        (
            boxed("Triggered: [#1] Checkout slow", "").from("PagerDuty"),
            boxed("Resolved: [#2] Checkout slow", "").from("PagerDuty"),
        ),
        (
            boxed("Critical: Search failure rate", "0.3").from("Sentry"),
            boxed("Resolved: Search failure rate", "0.0").from("Sentry"),
        ),
        (
            boxed("[acme/search] CI failed on main", "").from("GitHub"),
            boxed("[acme/search] CI succeeded on main", "").from("GitHub"),
        ),
        (
            boxed("【触发】支付服务超时 30 秒", "实例：10.0.0.1:80"),
            boxed("【恢复】支付服务超时 45 秒", "实例：10.0.0.2:80"),
        ),
    ];
    for (firing, resolved) in pairs {
        let key = |post: &Post| {
            let reading = read(post, &registry()).expect("an alert");
            (reading.alerts[0].key.clone(), reading.status())
        };
        let ((one, fires), (other, over)) = (key(&firing), key(&resolved));
        assert_eq!((fires, over), (AlertStatus::Firing, AlertStatus::Resolved));
        assert_eq!(one, other, "{}", firing.text());
    }
}

fn changed(post: &Post) -> Vec<String> {
    read_changes(post, &registry())
        .iter()
        .map(|change| {
            format!(
                "{:?} {:?} {:?} {} [{}] by {} at {} to {}",
                change.source,
                change.kind,
                change.stage,
                change.service.as_deref().unwrap_or("-"),
                change.what,
                change.by.as_deref().unwrap_or("-"),
                change.revision.as_deref().unwrap_or("-"),
                change.to.as_deref().unwrap_or("-"),
            )
        })
        .collect()
}

#[test]
fn changes_of_every_source() {
    let hub = |title: &str, text: &str| {
        boxed(title, text)
            .author_line("ana")
            .url("https://github.com/acme/x")
    };
    for (post, expected) in [
        (
            hub("[acme/search:main] 2 new commits", "[`3f9c2ab`](https://github.com/acme/search/commit/3f9c2ab) Old - ana\n[`77c9d8b`](https://github.com/acme/search/commit/77c9d8b) Raise the pool - ana"),
            "GitHub Push Done search [2 new commits: Raise the pool] by ana at 77c9d8b to main",
        ),
        (
            hub("[acme/money] Pull request merged: #12 Retry refunds", ""),
            "GitHub Merge Done billing [#12 Retry refunds] by ana at - to -",
        ),
        (
            hub("[acme/payments-api] New release published: v1.4.0", ""),
            "GitHub Release Done payments-api [New release published: v1.4.0] by ana at v1.4.0 to -",
        ),
        (
            hub("[acme/search] Deploy to production failed on main", ""),
            "GitHub Deploy Failed search [Deploy to production failed on main] by ana at - to production",
        ),
        (
            content("Application search-prod has been successfully synced at 2026-09-21T10:00:00Z.").from("Argo CD"),
            "ArgoCd Deploy Done search [Application search-prod has been successfully synced at 2026-09-21T10:00:00Z.] by - at - to -",
        ),
        (
            boxed("The sync operation of application checkout has failed", "").field("Revision", "3f9c2ab"),
            "ArgoCd Deploy Failed checkout [The sync operation of application checkout has failed] by - at 3f9c2ab to -",
        ),
        (
            content("Ana (ana) merged merge request [!7 *Faster refunds*](https://gitlab.test/acme/checkout/-/merge_requests/7) in [acme / checkout](https://gitlab.test/acme/checkout)").from("GitLab"),
            "GitLab Merge Done checkout [!7 Faster refunds] by Ana (ana) at - to -",
        ),
        (
            content("Ana pushed to branch [main](https://gitlab.test/x) of [acme / checkout](https://gitlab.test/acme/checkout) ([Compare changes](https://gitlab.test/y))").from("GitLab"),
            "GitLab Push Done checkout [Ana pushed to branch main of acme / checkout (Compare changes)] by Ana at - to main",
        ),
        (
            content("🚀 Deployed payments-api v1.2.3 to production by ana"),
            "Ci Deploy Done payments-api [Deployed payments-api v1.2.3 to production by ana] by ana at v1.2.3 to production",
        ),
        (
            boxed("deploy-checkout #45", "").field("Status", "FAILURE").field("Service", "checkout").field("Author", "ben"),
            "Ci Deploy Failed checkout [deploy-checkout #45] by ben at - to -",
        ),
        (
            content("部署完成：支付服务 v1.2.3 到生产环境"),
            "Ci Deploy Done payments-api [部署完成：支付服务 v1.2.3 到生产环境] by - at v1.2.3 to prod",
        ),
        (
            content("已回滚 search 到 v1.2.2"),
            "Ci Rollback Done search [已回滚 search 到 v1.2.2] by - at v1.2.2 to -",
        ),
    ] {
        assert_eq!(changed(&post), [expected]);
    }
}

#[test]
fn what_is_no_change() {
    let hub = |title: &str| boxed(title, "").url("https://github.com/acme/search");
    for post in [
        hub("[acme/search] Pull request opened: #12 Deploy faster"),
        hub("[acme/search] Pull request closed: #12 Deploy faster"),
        hub("[acme/search:feat/x] 1 new commit"),
        hub("[acme/search] Issue opened: #3 deploy failed"),
        hub("[acme/search] CI succeeded on main"),
        content("Deploy freeze for search starts at 17:00"),
        content("search v1.2.3 is ready to be deployed to production"),
        content("计划今晚部署 支付服务"),
        content("the deploy is done"),
        content("Application search is degraded").from("Argo CD"),
        content("Deployed search v1.2.3 to production").by(Writer::Person),
        content("Ana pushed to branch feat of acme / checkout").from("GitLab"),
        content(""),
    ] {
        assert_eq!(changed(&post), Vec::<String>::new(), "{}", post.text());
    }
    // A link is a plain address, and a time that the message gives is taken.
    let post =
        content("Deployed search v2 to prod\nTime: 2026-09-21T10:00:00Z\n[run](https://ci.test/1)");
    let change = &read_changes(&post, &registry())[0];
    assert_eq!(change.source, ChangeSource::Ci);
    assert_eq!(
        (change.kind, change.stage),
        (ChangeKind::Deploy, ChangeStage::Done)
    );
    assert_eq!(change.at_ms, 1_789_984_800_000);
    assert_eq!(change.link.as_deref(), Some("https://ci.test/1"));
}

#[test]
fn a_registered_name_needs_no_exact_spelling() {
    let mut registry = registry();
    registry.services.push(Service::named("kafka-1"));
    for (value, expected) in [
        ("payments-api-6d9f7c5b4-x2k8q", Some("payments-api")),
        ("payments-api-7.prod.internal:9100", Some("payments-api")),
        ("https://www.search.test/healthz", Some("search")),
        ("acme/order-service", Some("order-service")),
        ("kafka-1", Some("kafka-1")),
        ("kafka-2", None),
        ("10.0.0.1:80", None),
        ("", None),
    ] {
        assert_eq!(resolve(&registry.names(), value), expected, "{value}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_list_is_read_as_it_was_written(
        all in proptest::collection::vec(
            (any::<bool>(), "[A-Z][a-z]{3,8}[A-Z][a-z]{3,8}", 0_usize..6, 0_u32..40, "[ -~]{0,40}"),
            1..8,
        ),
        grafana in any::<bool>(),
    ) {
        let registry = registry();
        let names: Vec<String> = registry.services.iter().map(|s| s.name.clone()).collect();
        let of = |firing: bool| -> String {
            all.iter().filter(|alert| alert.0 == firing).map(|(_, name, service, pod, words)| {
                listed(
                    &[("alertname", name), ("pod", &format!("pod-{pod}")), ("service", &names[*service])],
                    words,
                )
            }).collect()
        };
        let (firing, resolved) = (of(true), of(false));
        let (fires, ends) = if grafana { ("**Firing**", "**Resolved**") } else { ("Alerts Firing:", "Alerts Resolved:") };
        let mut body = String::new();
        for (heading, list) in [(fires, &firing), (ends, &resolved)] {
            if !list.is_empty() {
                body.push_str(&format!("{heading}\n{list}\n"));
            }
        }
        let count = all.iter().filter(|alert| alert.0).count();
        let title = if count > 0 { format!("[FIRING:{count}] x") } else { "[RESOLVED] x".to_owned() };
        let post = if grafana {
            boxed(&title, "").saying(&body).footer("Grafana v11")
        } else {
            boxed(&title, &body)
        };
        let reading = read(&post, &registry).expect("alerts");
        prop_assert_eq!(reading.count() as usize, all.len());
        let mut wanted: Vec<(String, &str)> = all.iter().map(|a| (fold(&a.1), names[a.2].as_str())).collect();
        let mut found: Vec<(String, &str)> = reading.alerts.iter()
            .map(|alert| (fold(&alert.name), alert.service_name().unwrap_or("?"))).collect();
        for list in [&mut wanted, &mut found] {
            list.sort();
            list.dedup();
        }
        prop_assert_eq!(found, wanted);
        let firing: u32 = reading.alerts.iter().map(|alert| alert.firing).sum();
        prop_assert_eq!(firing as usize, count);
    }

    #[test]
    fn no_message_breaks_the_reading(
        head in "(\\[FIRING:[0-9]{1,9}(, RESOLVED:9)?\\]|【恢复】|Your service |\\[Triggered on \\{|\\[a/b:c\\]|Monitor is DOWN: )?\\PC{0,60}",
        body in "(Labels:|Alerts Firing:|\\*\\*Resolved\\*\\*| - a = b|Annotations:|\\[x\\]\\(|`|>|\n|…|\\PC{0,12}){0,30}",
        author in "(Sentry|GitHub|PagerDuty|GitLab|Argo CD|Datadog|UptimeRobot|)",
    ) {
        for post in [boxed(&head, &body).from(&author), content(&format!("{head}\n{body}")).from(&author)] {
            let registry = registry();
            if let Ok(reading) = read(&post, &registry) {
                for alert in &reading.alerts {
                    prop_assert!(!alert.name.is_empty() && alert.name.chars().count() <= LONGEST_NAME);
                    prop_assert!(alert.firing + alert.resolved > 0);
                    prop_assert!(alert.severity != Some(Severity::Sev1));
                    prop_assert!(alert.links.iter().all(|link| link.address.starts_with("http")));
                }
                // Read again it is the same.
                prop_assert_eq!(read(&post, &registry), Ok(reading));
            }
            let _ = read_changes(&post, &registry);
        }
    }
}
