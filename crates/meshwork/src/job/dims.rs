//! Side lengths of blocks.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

use smallvec::SmallVec;

/// Side lengths of a block, one for each dimension of its grid, dimension 0 first.
///
/// Up to four sides take no heap memory. The sides of an [aligned subcube](Dims::aligned) never
/// take any, because only two numbers are stored. So a subcube is recognised without a look at each
/// side.
///
/// ```
/// use meshwork::job::Dims;
/// let sides = Dims::aligned(2, 5);
/// assert_eq!(sides[..], [2, 2, 1, 1, 1]);
/// assert_eq!(sides, Dims::from_slice(&[2, 2, 1, 1, 1]));
/// ```
pub struct Dims(Kept);

enum Kept {
    Listed(SmallVec<[u32; 4]>),
    /// Sides of an aligned subcube: some twos, and then only ones.
    Aligned {
        /// Number of dimensions along which the subcube extends.
        dimension: u8,
        /// Dimension of the hypercube.
        of: u8,
    },
}

/// Largest dimension of a hypercube for which aligned subcubes are stored without a list.
const MOST: usize = 32;

/// Sides of aligned subcubes: 32 twos, followed by 32 ones.
///
/// The sides of a subcube of dimension *k* begin at the index `MOST - k`.
static ALIGNED: [u32; 2 * MOST] = {
    let mut sides = [1; 2 * MOST];
    let mut d = 0;
    while d < MOST {
        sides[d] = 2;
        d += 1;
    }
    sides
};

impl Dims {
    /// Returns an empty list of sides.
    #[must_use]
    pub fn new() -> Dims {
        Dims(Kept::Listed(SmallVec::new()))
    }

    /// Creates a list of sides from a slice.
    #[must_use]
    #[inline]
    pub fn from_slice(sides: &[u32]) -> Dims {
        Dims(Kept::Listed(SmallVec::from_slice(sides)))
    }

    /// Returns `count` sides of length `side`.
    #[must_use]
    pub fn from_elem(side: u32, count: usize) -> Dims {
        Dims(Kept::Listed(SmallVec::from_elem(side, count)))
    }

    /// Returns `dimension` sides of 2, then sides of 1, for a subcube of a hypercube of dimension
    /// `of`.
    ///
    /// # Panics
    /// If `dimension` exceeds `of`, or `of` exceeds 32.
    #[must_use]
    #[inline]
    pub fn aligned(dimension: usize, of: usize) -> Dims {
        assert!(dimension <= of && of <= MOST, "a subcube of dimension {dimension} in one of {of}");
        Dims(Kept::Aligned { dimension: dimension as u8, of: of as u8 })
    }

    /// Dimension of an aligned subcube; `None` if the sides are stored as a list.
    #[inline]
    pub(crate) fn as_aligned(&self) -> Option<u32> {
        match self.0 {
            Kept::Aligned { dimension, .. } => Some(u32::from(dimension)),
            Kept::Listed(_) => None,
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        match &self.0 {
            Kept::Listed(sides) => sides.len(),
            Kept::Aligned { of, .. } => usize::from(*of),
        }
    }

    /// Returns all sides as a slice.
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> &[u32] {
        self
    }

    /// Appends a side to the list.
    pub fn push(&mut self, side: u32) {
        self.listed().push(side);
    }

    /// Removes and returns the last side.
    pub fn pop(&mut self) -> Option<u32> {
        self.listed().pop()
    }

    /// Truncates the list to `count` sides, or appends sides of length `side` up to that number.
    pub fn resize(&mut self, count: usize, side: u32) {
        self.listed().resize(count, side);
    }

    /// The sides as a list that can be changed. The sides of an aligned subcube are converted to a
    /// list.
    #[inline]
    fn listed(&mut self) -> &mut SmallVec<[u32; 4]> {
        if let Kept::Aligned { .. } = self.0 {
            *self = Dims::from_slice(self);
        }
        match &mut self.0 {
            Kept::Listed(sides) => sides,
            Kept::Aligned { .. } => unreachable!("they have just been listed"),
        }
    }
}

impl Deref for Dims {
    type Target = [u32];

    #[inline]
    fn deref(&self) -> &[u32] {
        match &self.0 {
            Kept::Listed(sides) => sides,
            Kept::Aligned { dimension, of } => {
                &ALIGNED[MOST - usize::from(*dimension)..][..usize::from(*of)]
            }
        }
    }
}

impl DerefMut for Dims {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u32] {
        self.listed()
    }
}

// Sides are copied as a slice of words: a derived `Clone` would reserve memory element by element.
impl Clone for Dims {
    #[inline]
    fn clone(&self) -> Dims {
        match &self.0 {
            Kept::Listed(sides) => Dims::from_slice(sides),
            &Kept::Aligned { dimension, of } => Dims(Kept::Aligned { dimension, of }),
        }
    }
}

impl Default for Dims {
    fn default() -> Dims {
        Dims::new()
    }
}

impl fmt::Debug for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl PartialEq for Dims {
    #[inline]
    fn eq(&self, other: &Dims) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Dims {}

impl PartialOrd for Dims {
    fn partial_cmp(&self, other: &Dims) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Dims {
    fn cmp(&self, other: &Dims) -> Ordering {
        self.as_slice().cmp(other.as_slice())
    }
}

impl Hash for Dims {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

impl From<&[u32]> for Dims {
    fn from(sides: &[u32]) -> Dims {
        Dims::from_slice(sides)
    }
}

impl FromIterator<u32> for Dims {
    #[inline]
    fn from_iter<I: IntoIterator<Item = u32>>(sides: I) -> Dims {
        Dims(Kept::Listed(sides.into_iter().collect()))
    }
}

impl IntoIterator for Dims {
    type Item = u32;
    type IntoIter = smallvec::IntoIter<[u32; 4]>;

    fn into_iter(mut self) -> Self::IntoIter {
        std::mem::take(self.listed()).into_iter()
    }
}

impl<'a> IntoIterator for &'a Dims {
    type Item = &'a u32;
    type IntoIter = std::slice::Iter<'a, u32>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Dims {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Dims {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Dims, D::Error> {
        Ok(Dims(Kept::Listed(SmallVec::deserialize(deserializer)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_sides_are_what_they_are_when_listed() {
        for of in 0..=MOST {
            for dimension in 0..=of {
                let listed: Vec<u32> = (0..of).map(|d| if d < dimension { 2 } else { 1 }).collect();
                let (aligned, listed) = (Dims::aligned(dimension, of), Dims::from_slice(&listed));
                assert_eq!(aligned, listed);
                assert_eq!(aligned.clone().as_aligned(), Some(dimension as u32));
                assert_eq!(format!("{aligned:?}"), format!("{listed:?}"));
                assert_eq!(aligned.cmp(&Dims::aligned(0, of)), listed.cmp(&Dims::from_elem(1, of)));
            }
        }
    }

    #[test]
    fn aligned_sides_are_listed_once_they_change() {
        let mut sides = Dims::aligned(1, 3);
        sides.push(7);
        assert_eq!(sides[..], [2, 1, 1, 7]);
        let mut sides = Dims::aligned(1, 3);
        assert_eq!(sides.pop(), Some(1));
        assert_eq!(sides[..], [2, 1]);
        let mut sides = Dims::aligned(1, 3);
        sides[2] = 5;
        assert_eq!((&sides[..], sides.as_aligned()), (&[2, 1, 5][..], None));
        let mut sides = Dims::aligned(2, 3);
        sides.resize(5, 4);
        assert_eq!(sides[..], [2, 2, 1, 4, 4]);
    }
}
