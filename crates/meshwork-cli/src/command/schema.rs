//! `meshwork schema`: prints the JSON schema of studies.

use meshwork::catalogue::Catalogue;
use meshwork_lab::study::schema::schema;

use crate::output::{Ended, Output, Verdict};

pub(crate) fn run(out: &mut Output, catalogue: &Catalogue) -> Ended {
    out.text(&format!("{:#}\n", schema(catalogue)))?;
    Ok(Verdict::Done)
}
