//! The lists of partitions that are built in, made by the rules of their machines.

use std::fmt::Write as _;

/// Halves of halves, down to single nodes: of a machine that has no list of its own.
pub(super) fn halves(nodes: u32) -> String {
    fn halve(first: u32, nodes: u32, text: &mut String) {
        let _ = writeln!(text, "{first}+{nodes}: n[{first}-{}]", first + nodes - 1);
        if nodes > 1 {
            halve(first, nodes.div_ceil(2), text);
            halve(first + nodes.div_ceil(2), nodes / 2, text);
        }
    }
    let mut text = format!("cards 1 n[0-{}]\n", nodes - 1);
    halve(0, nodes, &mut text);
    text
}

/// Intrepid: 40 racks `R00` to `R47` in five rows of eight, each of two midplanes of 16 node cards of 32 nodes.
///
/// The rows lie along X, pairs of racks along Y, and along Z the four midplanes of a pair. A torus needs the switches of
/// its midplanes in all three; where it spans half a row, those of the rest of the row along Y too, and some along X. What is
/// smaller than a midplane needs none.
pub(super) fn intrepid() -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut partition = |name: String, cards: &str, switches: &str| {
        lines.push(format!("{name}: {cards} {switches}").trim_end().to_owned());
    };
    let cards = |racks: &str| format!("R{racks}-M[0-1]-N[00-15]");
    let torus = |racks: &str| format!("X_R{racks}-M[0-1] Y_R{racks}-M[0-1] Z_R{racks}-M[0-1]");
    for rack in (0..5).flat_map(|row| (0..8).map(move |column| format!("{row}{column}"))) {
        for midplane in [format!("R{rack}-M0"), format!("R{rack}-M1")] {
            for (nodes, of) in [(64, 2), (128, 4), (256, 8)] {
                for first in (0..16).step_by(of) {
                    let last = first + of - 1;
                    let own = format!("{midplane}-N[{first:02}-{last:02}]");
                    partition(format!("ANL-{midplane}-N{first:02}-{nodes}"), &own, "");
                }
            }
            let own = format!("X_{midplane} Y_{midplane} Z_{midplane}");
            partition(format!("ANL-{midplane}-512"), &format!("{midplane}-N[00-15]"), &own);
        }
        let (row, column) = rack.split_at(1);
        let left = column.parse::<u32>().unwrap_or(0) / 2 * 2;
        let pair = format!("{row}[{left}-{}]", left + 1);
        let own = format!("X_R{rack}-M[0-1] Y_R{rack}-M[0-1]");
        let around = format!("{own} Z_R{pair}-M[0-1]");
        partition(format!("ANL-R{rack}-1024"), &cards(&rack), &around);
        partition(format!("MESH-R{rack}-1024"), &cards(&rack), &format!("Z_R{rack}-M[0-1]"));
    }
    for row in 0..5 {
        for left in [0, 2, 4, 6] {
            let pair = format!("{row}[{left}-{}]", left + 1);
            let name = format!("ANL-R{row}{left}-R{row}{}-2048", left + 1);
            partition(name, &cards(&pair), &torus(&pair));
        }
        // Half a row, whose ring along Y goes on through the rest of the row.
        let halves: &[u32] = if row < 2 { &[0, 2, 4] } else { &[0, 4] };
        for &left in halves.iter().filter(|&&left| row == 0 || left != 2 || row == 1) {
            let half = format!("{row}[{left}-{}]", left + 3);
            let through = format!("{} Y_R{row}[0-7]-M[0-1]", torus(&half));
            let name = format!("R{row}{left}-R{row}{}-4096", left + 3);
            partition(format!("ANL-{name}"), &cards(&half), &through);
            if left != 2 {
                let mesh = format!("Y_R{half}-M[0-1] Z_R{half}-M[0-1]");
                partition(format!("MESH-{name}"), &cards(&half), &mesh);
            }
        }
        let whole = format!("{row}[0-7]");
        partition(format!("ANL-R{row}0-R{row}7-8192"), &cards(&whole), &torus(&whole));
    }
    // Over the first two rows.
    for left in [0, 2, 4, 6] {
        let own = format!("[0-1][{left}-{}]", left + 1);
        partition(format!("ANL-R0{left}-R1{}-4096", left + 1), &cards(&own), &torus(&own));
    }
    for left in [0, 2, 4] {
        let own = format!("[0-1][{left}-{}]", left + 3);
        let through = format!("{} Y_R[0-1][0-7]-M[0-1]", torus(&own));
        partition(format!("ANL-R0{left}-R1{}-8192", left + 3), &cards(&own), &through);
    }
    // Whole rows, and the rows that their ring along X goes through.
    for (name, rows, through) in [
        ("R00-R17-16384", "0-1", ""),
        ("R20-R37-16384", "2-3", ""),
        ("R30-R47-16384", "3-4", "2"),
        ("R20-R27-R40-R47-16384", "2,4", "3"),
        ("R20-R47-24576", "2-4", ""),
        ("R00-R37-32768", "0-3", ""),
        ("R10-R47-32768", "1-4", "0"),
        ("R00-R47-40960", "0-4", ""),
    ] {
        let own = format!("[{rows}][0-7]");
        let mut switches = torus(&own);
        if !through.is_empty() {
            let _ = write!(switches, " X_R{through}[0-7]-M[0-1]");
        }
        partition(format!("ANL-{name}"), &cards(&own), &switches);
    }
    // Single ones, which production had besides.
    let crossed = "R00-M0-N[00-15] R01-M1-N[00-15]";
    let wires = "X_R00-M0 X_R01-M1 Y_R00-M0 Y_R01-M1 Z_R0[0-1]-M[0-1]";
    partition("ANL-R00-M0-R01-M1-1024".to_owned(), crossed, wires);
    partition("MESH-R32-R33-2048".to_owned(), &cards("3[2-3]"), "Z_R3[2-3]-M[0-1]");
    partition("MESH-R33-M0-512".to_owned(), "R33-M0-N[00-15]", "");
    partition("MESH-R40-M0-512".to_owned(), "R40-M0-N[00-15]", "");
    partition("SPLIT-R20-R21-R30-R31-4096".to_owned(), &cards("[2-3][0-1]"), &torus("[2-3][0-1]"));
    lines.sort_unstable();
    format!("cards 32 R[0-4][0-7]-M[0-1]-N[00-15]\n{}\n", lines.join("\n"))
}

/// Mira: 96 midplanes of 512 nodes, and its sizes of production, each at every multiple of itself: where they really lay,
/// and with which wires, is not known here.
pub(super) fn mira() -> String {
    let mut text = "cards 512 M[00-95]\n".to_owned();
    for midplanes in [1, 2, 4, 8, 16, 24, 32, 48, 64, 96] {
        for first in (0..=96 - midplanes).step_by(midplanes) {
            let last = first + midplanes - 1;
            let nodes = midplanes * 512;
            let _ = writeln!(text, "M{first:02}-{nodes}: M[{first:02}-{last:02}]");
        }
    }
    text
}
