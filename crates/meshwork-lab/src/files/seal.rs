//! Digests at the end of JSON objects, with which damage to files is detected.

use std::borrow::Cow;

/// Text between a JSON object and its digest: the key `blake3`, and the quote before the digest.
const KEY: &str = ",\"blake3\":\"";

const END: &str = "\"}\n";

const DIGITS: usize = 2 * blake3::OUT_LEN;

/// Appends a digest to a JSON object, as its last key. The digest is of the object's bytes.
///
/// ```
/// use meshwork_lab::files::seal::{seal, unseal};
/// let sealed = seal(r#"{"a":1}"#);
/// assert_eq!(unseal(sealed.as_bytes()).unwrap(), br#"{"a":1}"#.as_slice());
/// assert!(unseal(sealed.replace('1', "2").as_bytes()).is_none());
/// ```
pub fn seal(object: &str) -> String {
    let body = object.strip_suffix('}').unwrap_or(object);
    format!("{body}{KEY}{}{END}", blake3::hash(body.as_bytes()).to_hex())
}

/// Removes the digest from a sealed object; `None` if the digest does not match the object.
///
/// A text that does not end with a digest is returned unchanged. The caller must check that it has
/// no key `blake3`.
pub fn unseal(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    let sealed = text.strip_suffix(END.as_bytes()).and_then(|head| {
        let (body, digest) = head.split_at_checked(head.len().checked_sub(DIGITS)?)?;
        Some((body.strip_suffix(KEY.as_bytes())?, digest))
    });
    let Some((body, digest)) = sealed else { return Some(Cow::Borrowed(text)) };
    let is_whole = blake3::hash(body).to_hex().as_bytes() == digest;
    is_whole.then(|| Cow::Owned([body, b"}"].concat()))
}
