//! What the Rust drivers share: the protocol of tests/clients/contender.py.
//!
//! ```ignore
//! impl User for Alice {
//!     const WORDS: Words<Self> = &[("pipeline", Self::pipeline)]; // features beyond the lock
//!     fn open(&mut self, addresses: &[String]) -> Outcome { … }
//!     …
//! }
//! driver::serve(Alice::default())
//! ```
//!
//! An answer is "error" for an error, "no" for false, else "yes".

use std::error::Error;
use std::fmt::Debug;
use std::io::BufRead;
use std::time::{Duration, Instant};

pub mod client;
pub mod recipe;

pub type Outcome = Result<bool, Box<dyn Error>>;
pub type Words<U> = &'static [(&'static str, fn(&mut U) -> Outcome)];

/// One user of a lock library.
pub trait User: Sized + 'static {
    const WORDS: Words<Self>;

    fn open(&mut self, addresses: &[String]) -> Outcome;
    fn acquire(&mut self, name: &str, ttl: Duration, wait: Duration) -> Outcome;
    fn extend(&mut self, name: &str, ttl: Duration) -> Outcome;
    fn release(&mut self, name: &str) -> Outcome;
}

/// Answers until standard input ends.
pub fn serve<U: User>(mut user: U) {
    for line in std::io::stdin().lock().lines() {
        let words: Vec<String> = line.unwrap().split_whitespace().map(String::from).collect();
        println!("{}", answer(&mut user, &words));
    }
}

fn answer<U: User>(user: &mut U, words: &[String]) -> String {
    let started = Instant::now();
    let done = perform(user, words);
    let took_ms = started.elapsed().as_secs_f64() * 1000.0;
    let (word, text) = match done {
        Ok(true) if words[0] == "open" => ("yes", known_words::<U>()),
        Ok(true) => ("yes", String::new()),
        Ok(false) => ("no", String::new()),
        Err(error) => ("error", on_one_line(&error.to_string())),
    };
    format!("= {word} {took_ms:.3} {text}")
}

fn perform<U: User>(user: &mut U, words: &[String]) -> Outcome {
    let time = |index: usize| Duration::from_millis(words[index].parse().unwrap());
    match words[0].as_str() {
        "open" => user.open(&words[1..]),
        "acquire" => user.acquire(&words[1], time(2), time(3)),
        "extend" => user.extend(&words[1], time(2)),
        "release" => user.release(&words[1]),
        word => U::WORDS.iter().find(|known| known.0 == word).unwrap().1(user),
    }
}

fn known_words<U: User>() -> String {
    let lock = ["acquire", "extend", "release"].into_iter();
    lock.chain(U::WORDS.iter().map(|known| known.0))
        .collect::<Vec<_>>()
        .join(" ")
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An error unless a feature answered what it must.
pub fn want<T: PartialEq + Debug>(what: &str, found: T, wanted: T) -> Outcome {
    if found == wanted {
        return Ok(true);
    }
    Err(format!("{what}: {found:?}, not {wanted:?}").into())
}
