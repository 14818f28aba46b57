//! Studies and random numbers for the tests of several modules.

use std::path::Path;

use meshwork::rng::Stream;

use crate::{Refused, Study};

pub(crate) fn study(text: &str) -> Study {
    study_with(text, &[]).unwrap()
}

pub(crate) fn study_with(text: &str, settings: &[&str]) -> Result<Study, Refused> {
    let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
    Study::parse("a.toml", text, Path::new(""), &settings)
}

/// Text of a study of random jobs of uniform sizes, with a mean run time of 5.
pub(crate) fn synthetic(head: &str, load: f64, tail: &str) -> String {
    format!(
        "{head}\n[workload]\nname = 'synthetic'\nload = {load}\nsizes = 'uniform'\n\
         runtimes = {{ name = 'exponential', mean = 5.0 }}\n{tail}"
    )
}

/// Standard normal number, by the transform of Box and Muller.
pub(crate) fn normal(stream: &mut Stream) -> f64 {
    let (a, b) = (stream.unit(), stream.unit());
    (-2.0 * libm::log(a)).sqrt() * libm::cos(std::f64::consts::TAU * b)
}
