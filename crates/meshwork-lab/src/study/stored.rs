//! A study as it lies in a folder of results, and which runs it means.

use std::path::Path;

use meshwork::catalogue::Catalogue;

use crate::run::keys::PointKeys;
use crate::run::store::digest_of;
use crate::run::windows::remembered;
use crate::study::asked::{Asked, EXPERIMENT};
use crate::study::expand::{Point, Windows, expand};
use crate::study::{Refused, Replications, Study};

/// A study in a folder of results.
pub struct Stored {
    /// The study.
    pub study: Study,
    /// How it was asked for.
    pub asked: Asked,
    /// Its scenarios.
    pub points: Vec<Point>,
    /// The digest of the file that each scenario reads.
    pub digests: Vec<Option<String>>,
}

impl Stored {
    /// Reads that of a folder; how it was asked for is `guess` where the folder does not say it. Its inputs need not
    /// be there any more.
    ///
    /// # Errors
    /// One sentence, if it cannot be read.
    pub fn read(
        catalogue: &Catalogue,
        folder: &Path,
        guess: impl FnOnce() -> Asked,
    ) -> Result<Stored, Refused> {
        let asked = Asked::read(folder)?.unwrap_or_else(guess);
        let written = Study::read_in(catalogue, &folder.join(EXPERIMENT), &asked.settings)?;
        // Under the name that it had: a study that gives itself none is called after its file.
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

    /// The keys of the replications of a scenario, in the build that ran the study.
    pub(crate) fn keys(&self, point: usize) -> PointKeys<'_> {
        let digest = self.digests[point].clone();
        PointKeys::of(&self.study.catalogue, &self.points[point], digest, &self.asked.build)
    }
}

/// Of every run that the study may have, scenario by scenario and replication by replication: its key. This is the order
/// in which runs are stored.
pub(crate) fn order<'a>(
    study: &'a Study,
    points: &'a [Point],
    keys: impl Fn(usize) -> PointKeys<'a> + 'a,
) -> impl Iterator<Item = u128> + 'a {
    points.iter().enumerate().flat_map(move |(index, point)| {
        let most = match study.replications {
            Replications::Windows { .. } => point.windows.as_ref().map_or(0, Windows::count),
            _ => study.most_replications(),
        };
        let keys = keys(index);
        (0..most).map_while(move |replication| keys.of_replication(replication))
    })
}
