//! Draws a machine as rows of characters. A held node is drawn as the letter of its job.

use meshwork::topology::{Grid, Node, Topology, Wiring};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Node(Node),
    /// Character of a label, such as the number of a row or the name of a layer.
    Label(char),
    Blank,
}

/// Positions of a site's nodes in a picture of characters.
///
/// A machine of two dimensions is drawn with node 0 at the top left. A machine of more dimensions
/// is drawn as layers of its first two dimensions, side by side if they fit. A hypercube is drawn
/// as a Karnaugh map: half of the dimensions are columns and half are rows, both in Gray code, so
/// that adjacent nodes are neighbours. A machine of one dimension is broken into rows.
///
/// Positions are computed when needed, so that a map of millions of nodes takes no memory.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    grid: Grid,
    form: Form,
    /// Word for a layer, such as `switch` or `group`, by the wiring of the machine.
    layer: &'static str,
}

#[derive(Clone, Debug)]
enum Form {
    /// Rows of `across` nodes. In front of each row is the number of its first node.
    Rows { across: usize, label: usize },
    /// Layers of the first two dimensions, `across` of them side by side.
    Layers { across: usize },
    /// Karnaugh map: the first `columns` dimensions as columns, all others as rows.
    Karnaugh { columns: usize },
}

/// Width of the gap between two layers, in columns of text.
const GAP: usize = 2;

impl Map {
    /// Map of a machine. Layers that do not fit side by side into `width` columns continue below.
    pub(crate) fn new(topology: &Topology, width: usize) -> Map {
        let grid = topology.grid().clone();
        let dimensions = grid.dimensions();
        let form = if topology.wiring() == Wiring::Hypercube {
            Form::Karnaugh { columns: dimensions.div_ceil(2) }
        } else if dimensions == 1 {
            let nodes = grid.nodes() as usize;
            let label = (nodes - 1).to_string().len() + 1;
            let square = (2 * nodes).isqrt().next_power_of_two().max(16);
            Form::Rows { across: square.min(width.saturating_sub(label).max(1)).min(nodes), label }
        } else {
            Form::Layers { across: 1 }
        };
        let layer = match topology.wiring() {
            Wiring::FatTree => "switch ",
            Wiring::Dragonfly => "group ",
            _ => "",
        };
        let mut map = Map { grid, form, layer };
        if let Form::Layers { .. } = map.form {
            let fit = (width + GAP) / (map.layer_width() + GAP);
            map.form = Form::Layers { across: fit.clamp(1, map.layers()) };
        }
        map
    }

    /// Size of the map in columns and rows.
    pub(crate) fn size(&self) -> (usize, usize) {
        match self.form {
            Form::Rows { across, label } => {
                (label + across, (self.grid.nodes() as usize).div_ceil(across))
            }
            Form::Layers { across } => {
                let width = across * (self.layer_width() + GAP) - GAP;
                let bands = self.layers().div_ceil(across);
                // An empty line separates two rows of layers.
                (width, bands * (self.heading() + self.plane().1) + bands - 1)
            }
            Form::Karnaugh { columns } => {
                let rows = self.grid.dimensions() - columns;
                let label = if rows > 0 { rows + 1 } else { 0 };
                (label + (1 << columns), columns + (1 << rows))
            }
        }
    }

    pub(crate) fn cell(&self, x: usize, y: usize) -> Cell {
        let (width, height) = self.size();
        if x >= width || y >= height {
            return Cell::Blank;
        }
        match self.form {
            Form::Rows { across, label } => {
                let first = y * across;
                if x < label {
                    return digits(first, label - 1, x);
                }
                let node = first + x - label;
                if node < self.grid.nodes() as usize {
                    Cell::Node(node as Node)
                } else {
                    Cell::Blank
                }
            }
            Form::Layers { across } => self.cell_of_layers(across, x, y),
            Form::Karnaugh { columns } => {
                let rows = self.grid.dimensions() - columns;
                let label = if rows > 0 { rows + 1 } else { 0 };
                match (x.checked_sub(label), y.checked_sub(columns)) {
                    (Some(column), Some(row)) => {
                        Cell::Node((gray(row) << columns | gray(column)) as Node)
                    }
                    // The bits of a column are above the column, those of a row before the row.
                    (Some(column), None) => bit(gray(column), columns - 1 - y),
                    (None, Some(row)) if x < rows => bit(gray(row), rows - 1 - x),
                    _ => Cell::Blank,
                }
            }
        }
    }

    /// Draws the map as lines of text. `of` returns the character of a node.
    pub(crate) fn drawn(&self, of: impl Fn(Node) -> char) -> Vec<String> {
        let (width, height) = self.size();
        let character = |x, y| match self.cell(x, y) {
            Cell::Node(node) => of(node),
            Cell::Label(label) => label,
            Cell::Blank => ' ',
        };
        let line = |y| (0..width).map(|x| character(x, y)).collect::<String>();
        (0..height).map(|y| line(y).trim_end().to_owned()).collect()
    }

    fn cell_of_layers(&self, across: usize, x: usize, y: usize) -> Cell {
        let ((width, height), heading) = (self.plane(), self.heading());
        let (column, x) = (x / (self.layer_width() + GAP), x % (self.layer_width() + GAP));
        let (band, y) = (y / (heading + height + 1), y % (heading + height + 1));
        let layer = band * across + column;
        if column >= across || layer >= self.layers() || y == heading + height {
            return Cell::Blank;
        }
        if y < heading {
            return self.title(layer).chars().nth(x).map_or(Cell::Blank, Cell::Label);
        }
        if x >= width {
            return Cell::Blank;
        }
        Cell::Node((layer * width * height + (y - heading) * width + x) as Node)
    }

    fn plane(&self) -> (usize, usize) {
        (self.grid.sides()[0] as usize, self.grid.sides()[1] as usize)
    }

    fn layers(&self) -> usize {
        let (width, height) = self.plane();
        self.grid.nodes() as usize / (width * height)
    }

    /// Number of text lines that the label above a layer takes.
    fn heading(&self) -> usize {
        usize::from(self.layers() > 1)
    }

    /// Label of a layer, such as `z=3`, `switch 3` or `3,1`.
    ///
    /// If there are several dimensions beyond the first two, the label has a coordinate for each.
    fn title(&self, layer: usize) -> String {
        let (width, height) = self.plane();
        let corner = self.grid.coordinates((layer * width * height) as Node);
        let further: Vec<String> = corner[2..].iter().map(u32::to_string).collect();
        match (self.layer, &further[..]) {
            ("", [z]) => format!("z={z}"),
            (name, _) => format!("{name}{}", further.join(",")),
        }
    }

    fn layer_width(&self) -> usize {
        let longest = if self.layers() > 1 { self.title(self.layers() - 1).len() } else { 0 };
        self.plane().0.max(longest)
    }
}

/// Gray code of a number: the codes of consecutive numbers differ in one bit.
fn gray(place: usize) -> usize {
    place ^ (place >> 1)
}

fn bit(number: usize, bit: usize) -> Cell {
    Cell::Label(if number >> bit & 1 == 1 { '1' } else { '0' })
}

/// Character in column `x` of a number that is right-aligned in `width` columns.
fn digits(number: usize, width: usize, x: usize) -> Cell {
    let text = number.to_string();
    let at = (x + text.len()).checked_sub(width);
    at.and_then(|at| text.chars().nth(at)).map_or(Cell::Blank, Cell::Label)
}

/// Letters that stand for holders of nodes. No letter is used twice while another is unused.
#[derive(Clone, Debug)]
pub(crate) struct Letters {
    next: usize,
    users: [u32; LETTERS.len()],
}

const LETTERS: &[u8; 52] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

impl Default for Letters {
    fn default() -> Letters {
        Letters { next: 0, users: [0; LETTERS.len()] }
    }
}

impl Letters {
    /// Assigns a letter to a holder: the next letter, in cyclic order, that the fewest holders
    /// have.
    pub(crate) fn take(&mut self) -> char {
        let around = (0..LETTERS.len()).map(|i| (self.next + i) % LETTERS.len());
        let letter = around.min_by_key(|&letter| self.users[letter]).expect("there are letters");
        self.users[letter] += 1;
        self.next = letter + 1;
        char::from(LETTERS[letter])
    }

    pub(crate) fn last(&self) -> Option<char> {
        self.next.checked_sub(1).map(|last| char::from(LETTERS[last]))
    }

    /// Restores which letters are in use, and which was assigned last.
    ///
    /// `None` if a character is not one of the letters.
    pub(crate) fn of(given: impl Iterator<Item = char>, last: Option<char>) -> Option<Letters> {
        let place = |letter| LETTERS.iter().position(|&known| char::from(known) == letter);
        let mut letters = Letters::default();
        for letter in given {
            letters.users[place(letter)?] += 1;
        }
        if let Some(last) = last {
            letters.next = place(last)? + 1;
        }
        Some(letters)
    }

    pub(crate) fn give_back(&mut self, letter: char) {
        let letter = LETTERS.iter().position(|&known| char::from(known) == letter);
        let users = &mut self.users[letter.expect("a letter that was taken")];
        *users = users.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Picture as text, in which the letter of a node is its number modulo 26.
    fn drawn(topology: &Topology, width: usize) -> Vec<String> {
        Map::new(topology, width).drawn(|node| char::from(b'a' + (node % 26) as u8))
    }

    #[test]
    fn a_plane_is_drawn_as_it_is() {
        assert_eq!(drawn(&Topology::mesh(&[4, 3]).unwrap(), 80), ["abcd", "efgh", "ijkl"]);
    }

    #[test]
    fn further_dimensions_are_layers() {
        let cube = Topology::torus(&[2, 2, 3]).unwrap();
        assert_eq!(drawn(&cube, 80), ["z=0  z=1  z=2", "ab   ef   ij", "cd   gh   kl"]);
        let tree = Topology::fat_tree(&[2, 2, 2], 1.0).unwrap();
        assert_eq!(drawn(&tree, 80), ["switch 0  switch 1", "ab        ef", "cd        gh"]);
        let narrow = ["z=0  z=1", "ab   ef", "cd   gh", "", "z=2", "ij", "kl"];
        assert_eq!(drawn(&cube, 9), narrow);
        assert_eq!(drawn(&cube, 1).len(), 11, "at least one layer stands in a row");
        let four = drawn(&Topology::mesh(&[2, 1, 2, 2]).unwrap(), 80);
        assert_eq!(four, ["0,0  1,0  0,1  1,1", "ab   cd   ef   gh"]);
    }

    #[test]
    fn a_hypercube_is_a_karnaugh_map() {
        assert_eq!(
            drawn(&Topology::hypercube(3).unwrap(), 80),
            ["  0011", "  0110", "0 abdc", "1 efhg"]
        );
        assert_eq!(drawn(&Topology::hypercube(1).unwrap(), 80), ["01", "ab"]);
    }

    #[test]
    fn neighbours_on_a_karnaugh_map_are_neighbours_in_the_cube() {
        let map = Map::new(&Topology::hypercube(7).unwrap(), 80);
        let (width, height) = map.size();
        let mut nodes = 0;
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            let Cell::Node(node) = map.cell(x, y) else { continue };
            nodes += 1;
            for beside in [map.cell(x + 1, y), map.cell(x, y + 1)] {
                if let Cell::Node(other) = beside {
                    assert_eq!((node ^ other).count_ones(), 1);
                }
            }
        }
        assert_eq!(nodes, 128);
    }

    #[test]
    fn one_dimension_is_broken_into_rows() {
        let flat = drawn(&Topology::flat(40).unwrap(), 80);
        assert_eq!(flat, [" 0 abcdefghijklmnop", "16 qrstuvwxyzabcdef", "32 ghijklmn"]);
        let narrow = drawn(&Topology::mesh(&[20]).unwrap(), 13);
        assert_eq!(narrow, [" 0 abcdefghij", "10 klmnopqrst"]);
        assert_eq!(drawn(&Topology::flat(3).unwrap(), 80), ["0 abc"]);
    }

    #[test]
    fn every_node_stands_in_one_place() {
        for topology in [
            Topology::mesh(&[5, 4]).unwrap(),
            Topology::mesh(&[5, 4, 3, 2]).unwrap(),
            Topology::hypercube(6).unwrap(),
            Topology::flat(77).unwrap(),
        ] {
            for width in [1, 10, 40, 200] {
                let map = Map::new(&topology, width);
                let (columns, rows) = map.size();
                let cells = (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y)));
                let mut nodes: Vec<Node> = cells
                    .filter_map(|(x, y)| match map.cell(x, y) {
                        Cell::Node(node) => Some(node),
                        _ => None,
                    })
                    .collect();
                nodes.sort_unstable();
                assert!(nodes.iter().copied().eq(0..topology.grid().nodes()), "{topology} {width}");
                assert_eq!(map.cell(columns, 0), Cell::Blank);
                assert_eq!(map.cell(0, rows), Cell::Blank);
            }
        }
    }

    #[test]
    fn letters_are_not_used_twice_while_there_are_others() {
        let mut letters = Letters::default();
        let first: String = (0..52).map(|_| letters.take()).collect();
        assert_eq!(first.as_bytes(), LETTERS);
        letters.give_back('M');
        assert_eq!(letters.take(), 'M');
        assert_eq!(letters.take(), 'N', "all are taken: the next one");
        letters.give_back('A');
        letters.give_back('Q');
        assert_eq!(
            letters.take(),
            'Q',
            "the alphabet goes on, so that a letter is not soon used again"
        );
    }
}
