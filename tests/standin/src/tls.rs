//! A self-signed certificate for Discord's names, so that the unchanged client, with
//! its own rate limiter on, can be pointed at the double by a resolver override.

use std::io;
use std::pin::Pin;

use openssl::asn1::Asn1Time;
use openssl::bn::{BigNum, MsbOption};
use openssl::ec::{EcGroup, EcKey};
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::PKey;
use openssl::ssl::{Ssl, SslAcceptor, SslMethod};
use openssl::x509::extension::{BasicConstraints, ExtendedKeyUsage, SubjectAlternativeName};
use openssl::x509::{X509, X509NameBuilder};
use tokio_openssl::SslStream;

use crate::server::Stream;

/// The names the certificate is for.
pub const NAMES: [&str; 4] = [
    "discord.com",
    "cdn.discordapp.com",
    "media.discordapp.net",
    "gateway.discord.gg",
];

/// A certificate with its key, ready to accept connections.
pub(crate) struct Certificate {
    pub pem: Vec<u8>,
    pub der: Vec<u8>,
    acceptor: SslAcceptor,
}

impl Certificate {
    /// Makes a new one, valid for a day.
    pub fn new() -> Result<Self, ErrorStack> {
        let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1)?;
        let key = PKey::from_ec_key(EcKey::generate(&group)?)?;
        let mut name = X509NameBuilder::new()?;
        name.append_entry_by_text("CN", "discord.com")?;
        let name = name.build();
        let mut serial = BigNum::new()?;
        serial.rand(120, MsbOption::MAYBE_ZERO, false)?;
        let mut builder = X509::builder()?;
        builder.set_version(2)?;
        builder.set_serial_number(&*serial.to_asn1_integer()?)?;
        builder.set_subject_name(&name)?;
        builder.set_issuer_name(&name)?;
        builder.set_pubkey(&key)?;
        builder.set_not_before(&*Asn1Time::days_from_now(0)?)?;
        builder.set_not_after(&*Asn1Time::days_from_now(1)?)?;
        builder.append_extension(BasicConstraints::new().critical().ca().build()?)?;
        builder.append_extension(ExtendedKeyUsage::new().server_auth().build()?)?;
        let mut names = SubjectAlternativeName::new();
        for dns in NAMES {
            names.dns(dns);
        }
        let names = names.build(&builder.x509v3_context(None, None))?;
        builder.append_extension(names)?;
        builder.sign(&key, MessageDigest::sha256())?;
        let certificate = builder.build();
        let mut acceptor = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server())?;
        acceptor.set_private_key(&key)?;
        acceptor.set_certificate(&certificate)?;
        Ok(Self {
            pem: certificate.to_pem()?,
            der: certificate.to_der()?,
            acceptor: acceptor.build(),
        })
    }

    pub async fn accept(&self, stream: Stream) -> io::Result<SslStream<Stream>> {
        let ssl = Ssl::new(self.acceptor.context())?;
        let mut stream = SslStream::new(ssl, stream)?;
        Pin::new(&mut stream)
            .accept()
            .await
            .map_err(io::Error::other)?;
        Ok(stream)
    }
}
