//! redis-rs on tokio, its connection manager with RESP3: the single-node recipe, and what else
//! people do with it.

use std::time::Duration;

use driver::client::client;
use driver::recipe::{EXTEND, RELEASE, Values};
use driver::{Outcome, User, Words, want};
use redis::aio::ConnectionManager;
use redis::{AsyncTypedCommands, Client, ExistenceCheck, PushKind, Script, SetExpiry, SetOptions};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::timeout;

const TTL_MS: u64 = 5000;

struct Alice {
    runtime: Runtime,
    client: Option<Client>,
    manager: Option<ConnectionManager>,
    values: Values,
}

fn for_ms(ttl_ms: u64) -> SetOptions {
    SetOptions::default().with_expiration(SetExpiry::PX(ttl_ms))
}

impl Alice {
    /// It connects again by itself; a clone shares its connection.
    fn manager(&self) -> ConnectionManager {
        self.manager.clone().unwrap()
    }

    fn script(&self, text: &str, name: &str, ttl_ms: u128) -> Outcome {
        let script = Script::new(text);
        let mut call = script.key(name);
        call.arg(self.values.of(name)).arg(ttl_ms as u64);
        let done: i64 = self
            .runtime
            .block_on(call.invoke_async(&mut self.manager()))?;
        Ok(done == 1)
    }

    fn pipeline(&mut self) -> Outcome {
        let mut pipe = redis::pipe();
        pipe.set_options("p", 1, for_ms(TTL_MS))
            .ignore()
            .incr("p", 1)
            .get("p")
            .del("p")
            .ignore();
        let found: (i64, String) = self
            .runtime
            .block_on(pipe.query_async(&mut self.manager()))?;
        want("INCR, GET", found, (2, "2".into()))
    }

    fn transaction(&mut self) -> Outcome {
        let mut pipe = redis::pipe();
        pipe.atomic()
            .set_options("t", 1, for_ms(TTL_MS))
            .ignore()
            .get_del("t");
        let found: (String,) = self
            .runtime
            .block_on(pipe.query_async(&mut self.manager()))?;
        want("GETDEL", found.0, "1".into())
    }

    /// Messages are pushed between the answers on one RESP3 connection.
    fn pubsub(&mut self) -> Outcome {
        let (sender, mut heard) = mpsc::unbounded_channel();
        let settings = redis::AsyncConnectionConfig::new().set_push_sender(sender);
        let client = self.client.clone().unwrap();
        self.runtime.block_on(async {
            let mut both = client
                .get_multiplexed_async_connection_with_config(&settings)
                .await?;
            both.subscribe("news").await?;
            both.psubscribe("n?ws").await?;
            want("PUBLISH", both.publish("news", "hello").await?, 2)?;
            let mut messages = Vec::new();
            while messages.len() < 2 {
                let push = timeout(Duration::from_millis(TTL_MS), heard.recv())
                    .await?
                    .unwrap();
                if matches!(push.kind, PushKind::Message | PushKind::PMessage) {
                    messages.push(push.kind);
                }
            }
            messages.sort_by_key(|kind| *kind == PushKind::PMessage);
            want(
                "messages",
                messages,
                vec![PushKind::Message, PushKind::PMessage],
            )
        })
    }
}

impl User for Alice {
    const WORDS: Words<Self> = &[
        ("pipeline", Self::pipeline),
        ("transaction", Self::transaction),
        ("pubsub", Self::pubsub),
    ];

    fn open(&mut self, addresses: &[String]) -> Outcome {
        let client = client(&addresses[0], "?protocol=resp3")?;
        self.manager = Some(self.runtime.block_on(client.get_connection_manager())?);
        self.client = Some(client);
        Ok(true)
    }

    fn acquire(&mut self, name: &str, ttl: Duration, wait: Duration) -> Outcome {
        let options = for_ms(ttl.as_millis() as u64).conditional_set(ExistenceCheck::NX);
        let mut manager = self.manager();
        self.values.acquire(name, wait, |value| {
            let set = manager.set_options(name, value, options.clone());
            Ok(self.runtime.block_on(set)?.is_some())
        })
    }

    fn extend(&mut self, name: &str, ttl: Duration) -> Outcome {
        self.script(EXTEND, name, ttl.as_millis())
    }

    fn release(&mut self, name: &str) -> Outcome {
        self.script(RELEASE, name, 0)
    }
}

fn main() {
    let runtime = Runtime::new().unwrap();
    driver::serve(Alice {
        runtime,
        client: None,
        manager: None,
        values: Values::default(),
    });
}
