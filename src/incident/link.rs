//! Addresses that people give: runbooks, repositories.
//!
//! Wanted: an address that is stored leads to a page over `http` or `https` and does nothing else.
//! It holds no name and password, no character that could end or change the message around it, and
//! no token that mentions somebody.

/// Characters of an address, encoded.
pub const LONGEST_ADDRESS: usize = 400;

/// The address as it may be shown within `<` and `>`: what is special to a message, and everything
/// beyond ASCII, is percent-encoded. `None` for everything that is no plain `http` or `https`
/// address.
pub fn web_address(text: &str) -> Option<String> {
    let text = text.trim();
    let (scheme, rest) = text.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    if !matches!(scheme.as_str(), "http" | "https") {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    if !is_host(host) || path.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return None;
    }
    let mut address = format!("{scheme}://{}", host.to_ascii_lowercase());
    for c in path.chars() {
        if c.is_ascii_alphanumeric() || "-._~/?#%&=+:;,!$'".contains(c) {
            address.push(c);
        } else {
            for byte in c.to_string().bytes() {
                address.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    (address.len() <= LONGEST_ADDRESS).then_some(address)
}

/// A host's name or number, with or without a port; no name and password before it.
fn is_host(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (host, None),
    };
    let port_is_one = port.is_none_or(|port| {
        (1..=5).contains(&port.len()) && port.bytes().all(|b| b.is_ascii_digit())
    });
    port_is_one
        && !name.is_empty()
        && name.split('.').all(|label| {
            !label.is_empty()
                && label
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn addresses_that_are_kept() {
        for (text, expected) in [
            (
                "https://wiki.acme.test/payments",
                "https://wiki.acme.test/payments",
            ),
            (
                "  HTTP://Wiki.Acme.test:8080/a?b=c#d ",
                "http://wiki.acme.test:8080/a?b=c#d",
            ),
            (
                "https://wiki/runbook_(old)",
                "https://wiki/runbook_%28old%29",
            ),
            ("https://wiki/@everyone", "https://wiki/%40everyone"),
            ("https://wiki/值班", "https://wiki/%E5%80%BC%E7%8F%AD"),
            (
                "https://wiki/a`b>c[d](e)",
                "https://wiki/a%60b%3Ec%5Bd%5D%28e%29",
            ),
            ("https://10.0.0.1", "https://10.0.0.1"),
        ] {
            assert_eq!(web_address(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_plain_address() {
        for text in [
            "",
            "wiki.acme.test/payments",
            "javascript:alert(1)",
            "ftp://wiki/x",
            "file:///etc/passwd",
            "https://",
            "https:///path",
            "https://alice:secret@wiki/x",
            "https://wiki/a b",
            "https://wiki/a\nb",
            "https://wi ki/",
            "https://wiki:port/",
            "https://<@123>/",
            "https://wiki..test/",
            "discord://x",
        ] {
            assert_eq!(web_address(text), None, "{text}");
        }
        assert_eq!(
            web_address(&format!("https://wiki/{}", "x".repeat(400))),
            None
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_kept_is_plain_and_stays_the_same(text in "(https?://)?\\PC{0,60}") {
            if let Some(address) = web_address(&text) {
                prop_assert!(address.is_ascii());
                prop_assert!(!address.contains(['<', '>', '@', '`', '(', ')', '[', ']', '*', '|', ' ', '\\']));
                prop_assert_eq!(web_address(&address), Some(address.clone()));
            }
        }
    }
}
