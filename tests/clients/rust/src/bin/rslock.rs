//! rslock over five nodes.

use std::collections::HashMap;
use std::time::Duration;

use driver::{Outcome, User, Words, want};
use rslock::{Lock, LockError, LockManager};
use tokio::runtime::Runtime;

/// It waits a random time up to this one before it tries again.
const RETRY: Duration = Duration::from_millis(100);

struct Alice {
    runtime: Runtime,
    manager: Option<LockManager>,
    held: HashMap<String, Lock>,
}

impl Alice {
    fn manager(&self) -> LockManager {
        self.manager.clone().unwrap()
    }

    /// Keeps the lock; no when it is another's.
    fn keep(&mut self, name: &str, lock: Result<Lock, LockError>) -> Outcome {
        match lock {
            Err(LockError::Unavailable) => Ok(false),
            other => {
                self.held.insert(name.into(), other?);
                Ok(true)
            }
        }
    }

    /// Extends by itself while the routine runs.
    fn using(&mut self) -> Outcome {
        let manager = self.manager();
        let ttl = Duration::from_secs(1);
        let other = self
            .runtime
            .block_on(manager.using(b"in-use", ttl, async || {
                tokio::time::sleep(ttl * 3 / 2).await;
                manager.lock("in-use", ttl).await.is_err()
            }))?;
        let value = self
            .runtime
            .block_on(manager.query_redis_for_key_value(b"in-use"))?;
        want(
            "refused while it runs, value after it",
            (other, value),
            (true, None),
        )
    }
}

impl User for Alice {
    const WORDS: Words<Self> = &[("using", Self::using)];

    fn open(&mut self, addresses: &[String]) -> Outcome {
        let uris = addresses
            .iter()
            .map(|address| format!("redis://{address}/"))
            .collect();
        self.manager = Some(LockManager::new::<String>(uris));
        Ok(true)
    }

    fn acquire(&mut self, name: &str, ttl: Duration, wait: Duration) -> Outcome {
        let mut manager = self.manager();
        manager.set_retry(1 + (2 * wait.as_millis() / RETRY.as_millis()) as u32, RETRY);
        let lock = self.runtime.block_on(manager.lock(name, ttl));
        self.keep(name, lock)
    }

    fn extend(&mut self, name: &str, ttl: Duration) -> Outcome {
        let lock = self
            .runtime
            .block_on(self.manager().extend(&self.held[name], ttl));
        self.keep(name, lock)
    }

    fn release(&mut self, name: &str) -> Outcome {
        self.runtime
            .block_on(self.manager().unlock(&self.held[name]));
        Ok(true)
    }
}

fn main() {
    let runtime = Runtime::new().unwrap();
    driver::serve(Alice {
        runtime,
        manager: None,
        held: HashMap::new(),
    });
}
