//! Random numbers: named streams of one seed.
//!
//! Each purpose ("arrivals", "runtimes", …) has a stream of its own, so that new purposes and
//! strategies change no other numbers, and all strategies are compared on *the same* jobs. The
//! generator (ChaCha with 8 rounds) is wrapped, because each version of Meshwork guarantees its
//! values.

use chacha20::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// Stream of random numbers, determined by seed, replication and name alone.
///
/// ```
/// use meshwork::rng::Stream;
/// let mut gaps = Stream::new(1, 0, "arrivals");
/// let mut again = Stream::new(1, 0, "arrivals");
/// assert_eq!(gaps.unit(), again.unit());
/// assert_ne!(gaps.unit(), Stream::new(1, 0, "runtimes").unit());
/// ```
pub struct Stream {
    source: ChaCha8Rng,
}

/// A clone continues from the position of the original stream, independently of it.
impl Clone for Stream {
    fn clone(&self) -> Stream {
        let mut source = ChaCha8Rng::from_seed(self.source.get_seed());
        source.set_stream(self.source.get_stream());
        source.set_word_pos(self.source.get_word_pos());
        Stream { source }
    }
}

impl Stream {
    /// Creates the stream with the name `name`, for a seed and a replication.
    #[must_use]
    pub fn new(seed: u64, replication: u64, name: &str) -> Stream {
        let mut key = [0_u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&replication.to_le_bytes());
        key[16..].copy_from_slice(b"meshwork-streams");
        let mut source = ChaCha8Rng::from_seed(key);
        source.set_stream(fnv1a(name));
        Stream { source }
    }

    /// The current position, in words of 32 bits, for a later call of [`go_to`](Stream::go_to). In
    /// practice the position never exceeds 64 bits.
    ///
    /// ```
    /// use meshwork::rng::Stream;
    /// let mut gaps = Stream::new(1, 0, "arrivals");
    /// gaps.unit();
    /// let mut again = Stream::new(1, 0, "arrivals");
    /// again.go_to(gaps.position());
    /// assert_eq!(gaps.unit(), again.unit());
    /// ```
    #[must_use]
    pub fn position(&self) -> u64 {
        self.source.get_word_pos() as u64
    }

    /// Moves the stream to a position that [`position`](Stream::position) has returned.
    pub fn go_to(&mut self, position: u64) {
        self.source.set_word_pos(u128::from(position));
    }

    /// Moves the stream to the position of its clone `copy`. If both positions are equal, nothing
    /// is written.
    #[inline]
    pub(crate) fn catch_up_with(&mut self, copy: &Stream) {
        if self.source.get_word_pos() != copy.source.get_word_pos() {
            self.source.set_word_pos(copy.source.get_word_pos());
        }
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.source.next_u64()
    }

    /// Returns a uniform number strictly between 0 and 1: an odd multiple of 2⁻⁵³, from 52 random
    /// bits.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) * (1.0 / (1_u64 << 52) as f64)
    }

    /// Returns a uniform number in `0..bound`, by Lemire's multiply and reject, which has no bias.
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "nothing is below 0");
        let reject_under = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            if product as u64 >= reject_under {
                return (product >> 64) as u64;
            }
        }
    }
}

/// 64 pseudorandom bits that depend only on three numbers, and not on the order of draws. The
/// finaliser of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014) is applied once for each number.
pub(crate) fn keyed(seed: u64, thing: u64, part: u64) -> u64 {
    [seed, thing, part].into_iter().fold(0, |hash, number| {
        let mut z = (hash ^ number).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

/// The FNV-1a hash of a text, which is sufficient to distinguish a few names.
fn fnv1a(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_stability() {
        let mut stream = Stream::new(1, 0, "arrivals");
        let drawn: Vec<u64> = (0..3).map(|_| stream.bits()).collect();
        // A change of these values changes every synthetic result: increase `MODEL_VERSION` too.
        assert_eq!(
            drawn,
            [13_952_972_306_119_076_526, 16_990_185_826_408_248_240, 11_439_425_625_715_591_776]
        );
    }

    #[test]
    fn keyed_bits_are_fair_and_independent() {
        // SplitMix64 from the seed 0 begins with this number.
        assert_eq!(keyed(0, 0, 0), {
            let once = |x: u64| keyed_once(x);
            once(once(once(0)))
        });
        assert_eq!(keyed_once(0), 0xe220_a839_7b1d_cdaf);
        let mut ones = [0_u32; 64];
        let mut equal = 0_u32;
        for part in 0..10_000 {
            let bits = keyed(1, 7, part);
            (0..64).for_each(|bit| ones[bit] += (bits >> bit & 1) as u32);
            equal += u32::from(bits & 1 == keyed(1, 7, part + 1) & 1);
        }
        // Each count is 5,000 on average, with a standard deviation of 50.
        assert!(ones.iter().chain([&equal]).all(|&n| (4_750..5_250).contains(&n)), "{ones:?}");
    }

    fn keyed_once(x: u64) -> u64 {
        let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    #[test]
    fn below_is_even() {
        let mut stream = Stream::new(7, 3, "below");
        let mut seen = [0_u32; 6];
        for _ in 0..60_000 {
            seen[stream.below(6) as usize] += 1;
        }
        // Each count is 10,000 on average, with a standard deviation of 91.
        assert!(seen.iter().all(|&n| (9_600..10_400).contains(&n)), "{seen:?}");
    }

    #[test]
    fn unit_has_the_moments_of_a_uniform() {
        let mut stream = Stream::new(1, 0, "unit");
        let draws: Vec<f64> = (0..100_000).map(|_| stream.unit()).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let square = draws.iter().map(|u| u * u).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.004 && (square - 1.0 / 3.0).abs() < 0.004);
    }

    #[test]
    fn replications_differ() {
        assert_ne!(Stream::new(1, 0, "x").bits(), Stream::new(1, 1, "x").bits());
    }
}
