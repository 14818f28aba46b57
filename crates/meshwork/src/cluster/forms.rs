//! Cache of what is known about requests on a single site, such as their forms.
//!
//! A form is the size and shape in which a request is put to the site's allocator.

use std::collections::BTreeMap;

use crate::job::Request;

/// Index of a form: the size and shape in which a request is put to the allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Form {
    number: u32,
    pub(crate) nodes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// Lower bound on the number of nodes that a job with this request needs to start.
    pub(super) fewest: u64,
    pub(super) form: Form,
    /// Whether the request fits the empty machine, if known.
    pub(super) fits: Option<bool>,
}

/// Cache of the known properties of each request.
///
/// It is only for a single site on which jobs get the requested sizes.
#[derive(Default)]
pub(super) struct Forms {
    counts: Vec<Option<Known>>,
    /// Cached properties of requests for subcubes, indexed by the dimension of the subcube.
    subcubes: Vec<Option<Known>>,
    others: BTreeMap<Request, Known>,
    forms: Vec<Request>,
    numbers: BTreeMap<Request, Form>,
}

/// Upper bound of requested numbers of nodes, for look-up by index. Larger requests are looked up
/// in a map.
const SMALL: u32 = 1 << 14;

/// Exclusive upper bound of the dimensions of subcubes that are looked up in a table by index.
///
/// The subcubes of every machine have fewer dimensions.
const CUBES: u32 = 32;

impl Forms {
    #[inline]
    pub(super) fn known(&self, request: &Request) -> Option<&Known> {
        match request {
            Request::Nodes(count) if *count < SMALL => self.counts.get(*count as usize)?.as_ref(),
            Request::Subcube(dimension) if *dimension < CUBES => {
                self.subcubes.get(*dimension as usize)?.as_ref()
            }
            _ => self.others.get(request),
        }
    }

    pub(super) fn learn(&mut self, request: &Request, fewest: u64, form: Request) -> Form {
        let (forms, nodes) = (&mut self.forms, form.nodes());
        let form = *self.numbers.entry(form).or_insert_with_key(|form| {
            forms.push(form.clone());
            Form { number: (forms.len() - 1) as u32, nodes }
        });
        self.keep(request, Known { fewest, form, fits: None });
        form
    }

    pub(super) fn learn_fit(&mut self, request: &Request, fits: bool) {
        if let Some(&known) = self.known(request) {
            self.keep(request, Known { fits: Some(fits), ..known });
        }
    }

    fn keep(&mut self, request: &Request, known: Known) {
        let (list, place) = match request {
            Request::Nodes(count) if *count < SMALL => (&mut self.counts, *count as usize),
            Request::Subcube(dimension) if *dimension < CUBES => {
                (&mut self.subcubes, *dimension as usize)
            }
            _ => {
                self.others.insert(request.clone(), known);
                return;
            }
        };
        if list.len() <= place {
            list.resize(place + 1, None);
        }
        list[place] = Some(known);
    }

    #[inline]
    pub(super) fn request(&self, form: Form) -> &Request {
        &self.forms[form.number as usize]
    }
}

impl Form {
    #[inline]
    pub(super) fn index(self) -> usize {
        self.number as usize
    }

    #[cfg(test)]
    pub(super) fn numbered(number: u32, nodes: u64) -> Form {
        Form { number, nodes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_requests_of_one_form_have_one_number() {
        let mut forms = Forms::default();
        let requests = [
            Request::Nodes(6),
            Request::Nodes(5),
            Request::block(&[3, 2]),
            Request::Nodes(SMALL + 1),
            Request::Subcube(6),
            Request::Subcube(CUBES + 1),
        ];
        let shapes = [
            Request::block(&[3, 2]),
            Request::block(&[3, 2]),
            Request::block(&[3, 2]),
            Request::Nodes(SMALL + 1),
            Request::block(&[64]),
            Request::block(&[3, 3]),
        ];
        for (request, shape) in requests.iter().zip(&shapes) {
            assert_eq!(forms.known(request), None, "{request:?}");
            forms.learn(request, shape.nodes(), shape.clone());
        }
        let known = requests.each_ref().map(|request| *forms.known(request).unwrap());
        for (a, one) in shapes.iter().zip(&known) {
            assert_eq!((forms.request(one.form), one.form.nodes), (a, a.nodes()));
            for (b, other) in shapes.iter().zip(&known) {
                assert_eq!(one.form == other.form, a == b);
            }
        }
        forms.learn_fit(&requests[1], false);
        assert_eq!(forms.known(&requests[1]).unwrap().fits, Some(false));
        assert_eq!(forms.known(&requests[0]).unwrap().fits, None);
    }
}
