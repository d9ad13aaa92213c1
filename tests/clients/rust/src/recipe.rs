//! The single-node recipe of Redis's own pages, for clients that bring no lock of their own:
//! SET NX PX, and scripts that compare the value before they extend or release.

use std::collections::HashMap;
use std::io::Read;
use std::time::{Duration, Instant};

use crate::Outcome;

pub const EXTEND: &str = "if redis.call(\"get\",KEYS[1]) == ARGV[1] then \
    return redis.call(\"pexpire\",KEYS[1],ARGV[2]) else return 0 end";
pub const RELEASE: &str = "if redis.call(\"get\",KEYS[1]) == ARGV[1] then \
    return redis.call(\"del\",KEYS[1]) else return 0 end";

const RETRY: Duration = Duration::from_millis(20);

/// The values of the locks that are held.
#[derive(Default)]
pub struct Values(HashMap<String, String>);

impl Values {
    /// Calls `set` with a new value until it says true, or the wait is over.
    pub fn acquire(
        &mut self,
        name: &str,
        wait: Duration,
        mut set: impl FnMut(&str) -> Outcome,
    ) -> Outcome {
        let end = Instant::now() + wait;
        loop {
            let value = new_value()?;
            if set(&value)? {
                self.0.insert(name.into(), value);
                return Ok(true);
            }
            if Instant::now() >= end {
                return Ok(false);
            }
            std::thread::sleep(RETRY);
        }
    }

    pub fn of(&self, name: &str) -> String {
        self.0[name].clone()
    }
}

fn new_value() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
