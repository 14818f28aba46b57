//! Page of styled characters, from which frames of text and the terminal display are made.

use std::ops::{Index, IndexMut};

use unicode_width::UnicodeWidthChar as _;

/// Rectangle of a page, in columns and lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rect {
    pub(super) x: u16,
    pub(super) y: u16,
    pub(super) width: u16,
    pub(super) height: u16,
}

impl Rect {
    pub(super) fn new(x: u16, y: u16, width: u16, height: u16) -> Rect {
        Rect { x, y, width, height }
    }

    #[cfg(feature = "tui")]
    pub(super) fn bottom(self) -> u16 {
        self.y + self.height
    }
}

/// Style with colours of the 256-colour palette; `None` is the terminal's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) foreground: Option<u8>,
    pub(super) background: Option<u8>,
    pub(super) is_bold: bool,
    pub(super) is_dim: bool,
}

impl Style {
    pub(super) const PLAIN: Style =
        Style { foreground: None, background: None, is_bold: false, is_dim: false };
    pub(super) const BOLD: Style = Style { is_bold: true, ..Style::PLAIN };
    pub(super) const DIM: Style = Style { is_dim: true, ..Style::PLAIN };

    /// Black text on a background colour.
    pub(super) fn on(colour: u8) -> Style {
        Style { foreground: Some(0), background: Some(colour), ..Style::PLAIN }
    }
}

/// Cell of a page.
///
/// A character that is two columns wide takes two cells. In the second cell, `character` is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) character: Option<char>,
    pub(super) style: Style,
}

/// Page of a terminal's character cells, all blank at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Canvas {
    pub(super) area: Rect,
    cells: Vec<Cell>,
}

impl Canvas {
    pub(super) fn blank(width: u16, height: u16) -> Canvas {
        let blank = Cell { character: Some(' '), style: Style::PLAIN };
        let count = usize::from(width) * usize::from(height);
        Canvas { area: Rect::new(0, 0, width, height), cells: vec![blank; count] }
    }

    /// Writes a text, which is cut after `columns` columns or at the edge of the page.
    pub(super) fn write(&mut self, x: u16, y: u16, text: &str, columns: usize, style: Style) {
        let end = usize::from(self.area.width).min(usize::from(x) + columns);
        let mut at = usize::from(x);
        for character in text.chars() {
            let width = character.width().unwrap_or(0);
            if width == 0 {
                continue;
            }
            if at + width > end {
                break;
            }
            for column in at..at + width {
                let character = (column == at).then_some(character);
                self[(column as u16, y)] = Cell { character, style };
            }
            at += width;
        }
    }

    /// Lines of the page as text, without trailing blanks.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |y: u16| {
            let cells = (0..self.area.width).filter_map(|x| self[(x, y)].character);
            cells.collect::<String>().trim_end().to_owned()
        };
        (0..self.area.height).map(line).collect()
    }

    fn place(&self, (x, y): (u16, u16)) -> usize {
        debug_assert!(x < self.area.width && y < self.area.height, "({x}, {y}) is off the page");
        usize::from(y) * usize::from(self.area.width) + usize::from(x)
    }
}

impl Index<(u16, u16)> for Canvas {
    type Output = Cell;

    fn index(&self, at: (u16, u16)) -> &Cell {
        &self.cells[self.place(at)]
    }
}

impl IndexMut<(u16, u16)> for Canvas {
    fn index_mut(&mut self, at: (u16, u16)) -> &mut Cell {
        let place = self.place(at);
        &mut self.cells[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_the_edge_and_wide_characters_take_two_columns() {
        let mut page = Canvas::blank(6, 2);
        page.write(1, 0, "abcdefgh", 4, Style::BOLD);
        page.write(0, 1, "界e\u{301}界界", 9, Style::PLAIN);
        assert_eq!(page.lines(), [" abcd", "界e界"]);
        assert_eq!(page[(1, 0)].style, Style::BOLD);
        assert_eq!(page[(1, 1)].character, None);
    }
}
