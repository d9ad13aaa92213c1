//! redis-rs, its plain connection with RESP2: the single-node recipe, and what else people do with
//! it.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use driver::client::client;
use driver::recipe::{EXTEND, RELEASE, Values};
use driver::{Outcome, User, Words, want};
use redis::{
    Client, Commands, Connection, ExistenceCheck, RedisResult, Script, SetExpiry, SetOptions,
    TypedCommands,
};

const TTL_MS: u64 = 5000;

#[derive(Default)]
struct Alice {
    client: Option<Client>,
    connection: Option<Connection>,
    values: Values,
}

fn for_ms(ttl_ms: u64) -> SetOptions {
    SetOptions::default().with_expiration(SetExpiry::PX(ttl_ms))
}

impl Alice {
    fn client(&self) -> &Client {
        self.client.as_ref().unwrap()
    }

    /// A connection that broke stays broken: its user asks the client for another.
    fn connection(&mut self) -> RedisResult<&mut Connection> {
        if !self
            .connection
            .as_ref()
            .is_some_and(redis::ConnectionLike::is_open)
        {
            self.connection = Some(self.client().get_connection()?);
        }
        Ok(self.connection.as_mut().unwrap())
    }

    fn script(&mut self, text: &str, name: &str, ttl_ms: u128) -> Outcome {
        let value = self.values.of(name);
        let done: i64 = Script::new(text)
            .key(name)
            .arg(value)
            .arg(ttl_ms as u64)
            .invoke(self.connection()?)?;
        Ok(done == 1)
    }

    fn pipeline(&mut self) -> Outcome {
        let found: (i64, String) = redis::pipe()
            .set_options("p", 1, for_ms(TTL_MS))
            .ignore()
            .incr("p", 1)
            .get("p")
            .del("p")
            .ignore()
            .query(self.connection()?)?;
        want("INCR, GET", found, (2, "2".into()))
    }

    fn transaction(&mut self) -> Outcome {
        let found: (String,) = redis::pipe()
            .atomic()
            .set_options("t", 1, for_ms(TTL_MS))
            .ignore()
            .get_del("t")
            .query(self.connection()?)?;
        want("GETDEL", found.0, "1".into())
    }

    /// Its transaction() tries again when a watched key has changed: here, once.
    fn watch(&mut self) -> Outcome {
        let mut other = self.client().get_connection()?;
        let mut tries = 0;
        let found: (String,) =
            redis::transaction(self.connection()?, &["w"], |connection, pipe| {
                tries += 1;
                if tries == 1 {
                    TypedCommands::set_options(&mut other, "w", "changed", for_ms(TTL_MS))?;
                }
                pipe.get_del("w").query(connection)
            })?;
        want("GETDEL, tries", (found.0, tries), ("changed".into(), 2))
    }

    fn scan(&mut self) -> Outcome {
        let connection = self.connection()?;
        let names: BTreeSet<String> = (0..50).map(|number| format!("scan-{number}")).collect();
        for name in &names {
            TypedCommands::set_options(connection, name, "v", for_ms(TTL_MS))?;
        }
        let options = redis::ScanOptions::default()
            .with_pattern("scan-*")
            .with_count(7);
        let found: BTreeSet<String> =
            Commands::scan_options::<String>(connection, options)?.collect::<RedisResult<_>>()?;
        want("SCAN", &found, &names)?;
        want(
            "DEL",
            TypedCommands::del(connection, Vec::from_iter(names))?,
            50,
        )
    }

    fn hash(&mut self) -> Outcome {
        let connection = self.connection()?;
        TypedCommands::hset_multiple(connection, "h", &[("a", 1), ("b", 2)])?;
        want("HINCRBY", Commands::hincr(connection, "h", "a", 4)?, 5)?;
        let all = TypedCommands::hgetall(connection, "h")?;
        want(
            "HGETALL",
            all,
            HashMap::from(
                [("a", "5"), ("b", "2")]
                    .map(|(field, value)| (field.to_string(), value.to_string())),
            ),
        )?;
        want("UNLINK", TypedCommands::unlink(connection, "h")?, 1)
    }

    fn pubsub(&mut self) -> Outcome {
        let mut connection = self.client().get_connection()?;
        let mut subscriber = connection.as_pubsub();
        subscriber.set_read_timeout(Some(Duration::from_millis(TTL_MS)))?;
        subscriber.subscribe("news")?;
        subscriber.psubscribe("n?ws")?;
        want(
            "PUBLISH",
            TypedCommands::publish(self.connection()?, "news", "hello")?,
            2,
        )?;
        for _ in 0..2 {
            let heard: String = subscriber.get_message()?.get_payload()?;
            want("a message", heard, "hello".into())?;
        }
        Ok(true)
    }

    fn admin(&mut self) -> Outcome {
        let connection = self.connection()?;
        redis::cmd("CLIENT")
            .arg("SETNAME")
            .arg("alice")
            .exec(connection)?;
        let list: String = redis::cmd("CLIENT").arg("LIST").query(connection)?;
        want("CLIENT LIST", list.contains(" name=alice "), true)?;
        let info: redis::InfoDict = redis::cmd("INFO").query(connection)?;
        want(
            "INFO",
            info.get("redis_mode"),
            Some("standalone".to_string()),
        )
    }
}

impl User for Alice {
    const WORDS: Words<Self> = &[
        ("pipeline", Self::pipeline),
        ("transaction", Self::transaction),
        ("watch", Self::watch),
        ("scan", Self::scan),
        ("hash", Self::hash),
        ("pubsub", Self::pubsub),
        ("admin", Self::admin),
    ];

    fn open(&mut self, addresses: &[String]) -> Outcome {
        self.client = Some(client(&addresses[0], "")?);
        TypedCommands::ping(self.connection()?)?;
        Ok(true)
    }

    fn acquire(&mut self, name: &str, ttl: Duration, wait: Duration) -> Outcome {
        let options = for_ms(ttl.as_millis() as u64).conditional_set(ExistenceCheck::NX);
        let mut values = std::mem::take(&mut self.values);
        let got = values.acquire(name, wait, |value| {
            Ok(
                TypedCommands::set_options(self.connection()?, name, value, options.clone())?
                    .is_some(),
            )
        });
        self.values = values;
        got
    }

    fn extend(&mut self, name: &str, ttl: Duration) -> Outcome {
        self.script(EXTEND, name, ttl.as_millis())
    }

    fn release(&mut self, name: &str) -> Outcome {
        self.script(RELEASE, name, 0)
    }
}

fn main() {
    driver::serve(Alice::default());
}
