//! redis-rs's client of a node, over TLS and as a user where we are told so.

use std::env::var;
use std::fs::read;

use redis::{Client, ClientTlsConfig, RedisResult, TlsCertificates};

/// options: of the URL, such as "?protocol=resp3".
pub fn client(address: &str, options: &str) -> RedisResult<Client> {
    let Ok(authority) = var("CLIENT_TLS_CA") else {
        return Client::open(format!("redis://{address}/{options}"));
    };
    let user = match (var("CLIENT_USER"), var("CLIENT_PASSWORD")) {
        (Ok(name), Ok(password)) => format!("{name}:{password}@"),
        _ => String::new(),
    };
    Client::build_with_tls(
        format!("rediss://{user}{address}/{options}"),
        TlsCertificates {
            client_tls: Some(ClientTlsConfig {
                client_cert: file("CLIENT_TLS_CERT")?,
                client_key: file("CLIENT_TLS_KEY")?,
            }),
            root_cert: Some(read(authority)?),
        },
    )
}

fn file(variable: &str) -> std::io::Result<Vec<u8>> {
    read(var(variable).expect("told with CLIENT_TLS_CA"))
}
