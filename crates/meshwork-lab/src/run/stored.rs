//! Study stored in a results folder, and the keys by which its runs are stored.

use std::path::Path;

use meshwork::catalogue::Catalogue;

use crate::run::keys::PointKeys;
use crate::run::replications::most;
use crate::run::windows::remembered;
use crate::study::asked::{EXPERIMENT, StudyRequest};
use crate::study::expand::{Point, expand};
use crate::study::input::digest_of;
use crate::study::{Refused, Study};

/// Study in a results folder, with its scenarios and the record of the command that ran it.
pub struct Stored {
    pub study: Study,
    pub asked: StudyRequest,
    pub points: Vec<Point>,
    /// Digest of all input files of each scenario. `None` for a scenario that reads no file.
    pub digests: Vec<Option<String>>,
}

impl Stored {
    /// Reads the study of a results folder, whose input files need not exist any more.
    pub fn read(
        catalogue: &Catalogue,
        folder: &Path,
        guess: impl FnOnce() -> StudyRequest,
    ) -> Result<Stored, Refused> {
        let asked = StudyRequest::read(folder)?.unwrap_or_else(guess);
        let written = Study::read_in(catalogue, &folder.join(EXPERIMENT), &asked.settings)?;
        // A study without a name is called after its original file.
        let mut study =
            Study::parse_in(catalogue, &asked.file, &written.source, folder, &asked.settings)?;
        study.found = asked.found(folder);
        study.name = asked.name.clone().unwrap_or(study.name);
        let mut points = expand(&study)?;
        remembered(&study, &mut points, &asked.spans);
        let digests = points
            .iter()
            .map(|point| {
                let of = |path: Option<&str>| asked.digest(path?);
                digest_of(of(point.scenario.input_path()), of(point.scenario.trace_path()))
            })
            .collect();
        Ok(Stored { study, asked, points, digests })
    }

    /// Store keys of a scenario's runs, for the program build that last ran the study.
    pub(crate) fn keys(&self, point: usize) -> PointKeys<'_> {
        let digest = self.digests[point].clone();
        PointKeys::of(&self.study.catalogue, &self.points[point], digest, &self.asked.build)
    }
}

/// Store keys of all runs that a study may need, sorted by scenario and then by replication.
pub(crate) fn order<'a>(
    study: &'a Study,
    points: &'a [Point],
    keys: impl Fn(usize) -> PointKeys<'a> + 'a,
) -> impl Iterator<Item = u128> + 'a {
    points.iter().enumerate().flat_map(move |(index, point)| {
        let keys = keys(index);
        (0..most(study, point)).map_while(move |replication| keys.of_replication(replication))
    })
}
