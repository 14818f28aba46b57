//! Replaces the file names of partition lists in a study by texts, since the model reads no files.

use std::fmt::Write as _;

use meshwork::registry::Problem;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use toml::{Table, Value};

use crate::files::FileError;

/// Number of nodes on a node card of a Blue Gene machine, which Cobalt files do not give.
const NODES_OF_A_CARD: u32 = 32;

type Texts<'a> = dyn Fn(&str) -> Result<String, FileError> + 'a;

/// In the keys `list` of `partitions` and `cobalt`, replaces a file name by the file's text.
///
/// If the value is the text of a list or the name of a built-in list, it is unchanged.
pub(super) fn read_in(files: &Texts<'_>, table: &mut Table) -> Result<(), Problem> {
    replace(files, table, "allocator")?;
    let Some(Value::Table(machine)) = table.get_mut("machine") else { return Ok(()) };
    replace(files, machine, "machine.allocator")?;
    let sites = machine.get_mut("sites").and_then(Value::as_array_mut).into_iter().flatten();
    for (index, site) in sites.enumerate() {
        if let Value::Table(site) = site {
            replace(files, site, &format!("machine.sites[{index}].allocator"))?;
        }
    }
    Ok(())
}

fn replace(files: &Texts<'_>, table: &mut Table, path: &str) -> Result<(), Problem> {
    let Some(Value::Table(allocator)) = table.get_mut("allocator") else { return Ok(()) };
    let name = allocator.get("name").and_then(Value::as_str);
    if !matches!(name, Some("partitions" | "cobalt")) {
        return Ok(());
    }
    let Some(Value::String(list)) = allocator.get_mut("list") else { return Ok(()) };
    // The text of a list has several lines, and names of built-in lists have no extension.
    if list.contains('\n') || !list.contains('.') {
        return Ok(());
    }
    let failed = |what: String| Problem::new(format!("{path}.list"), what);
    let text = files(list).map_err(|error| failed(error.to_string()))?;
    *list = if text.trim_start().starts_with('<') {
        from_xml(&text).map_err(|what| failed(format!("{list}: {what}")))?
    } else {
        // The line break marks the text as a list, as opposed to a name.
        format!("{}\n", text.trim_end())
    };
    Ok(())
}

/// Converts a Cobalt file in XML to a list of partitions.
///
/// The partitions of the file are elements `<Partition name="…">` or `<Block name="…">`.
fn from_xml(text: &str) -> Result<String, String> {
    let mut reader = Reader::from_str(text);
    let mut cards: Vec<String> = Vec::new();
    let mut partitions = String::new();
    let mut is_open = false;
    loop {
        let wrong =
            |what: &dyn std::fmt::Display| format!("this is no list of partitions in XML ({what})");
        match reader.read_event().map_err(|error| wrong(&error))? {
            Event::Eof => break,
            Event::Start(element) | Event::Empty(element) => match element.name().as_ref() {
                b"Partition" | b"Block" => {
                    let name = attribute(&element, "name")
                        .ok_or_else(|| wrong(&"a partition without a name"))?;
                    let _ = write!(partitions, "{}{name}:", if is_open { "\n" } else { "" });
                    is_open = true;
                }
                kind @ (b"NodeCard" | b"Switch") if is_open => {
                    let id =
                        attribute(&element, "id").ok_or_else(|| wrong(&"a part without an id"))?;
                    let _ = write!(partitions, " {id}");
                    if kind == b"NodeCard" {
                        cards.push(id);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
    cards.sort_unstable();
    cards.dedup();
    if !is_open {
        return Err(
            "this is no list of partitions in XML (there is no `Partition` or `Block` in it)"
                .to_owned(),
        );
    }
    Ok(format!("cards {NODES_OF_A_CARD} {}\n{partitions}\n", cards.join(" ")))
}

/// Value of the attribute `name` of an XML element. `None` unless the value is a single word that
/// may stand in a partition list.
fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let value = element.try_get_attribute(name).ok()??;
    let text = value.unescape_value().ok()?.trim().to_owned();
    (!text.is_empty() && !text.contains(|c: char| c.is_whitespace() || ":#[]".contains(c)))
        .then_some(text)
}

#[cfg(test)]
mod tests {
    use meshwork::alloc::partitions::List;

    use super::*;

    fn read(text: &'static str, given: &str) -> Result<String, String> {
        let mut table: Table =
            format!("allocator = {{ name = 'partitions', list = '{given}' }}").parse().unwrap();
        let one = |path: &str| match path {
            "list.txt" | "list.xml" => Ok(text.to_owned()),
            _ => Err(FileError::Missing(path.to_owned())),
        };
        read_in(&one, &mut table).map_err(|problem| problem.message)?;
        Ok(table["allocator"]["list"].as_str().unwrap().to_owned())
    }

    const XML: &str = "<?xml version='1.0'?>\n<PartitionList>\n<Partition name='left'><NodeCard id='a0'/><Switch id='x'/>\
                       </Partition>\n<Partition name='all'><NodeCard id=\"a0\"/><NodeCard id='a1'/><Switch id='x'/></Partition>\
                       \n</PartitionList>";

    #[test]
    fn a_file_is_put_in_the_place_of_its_name() {
        assert_eq!(read("cards 1 a\np: a", "list.txt").unwrap(), "cards 1 a\np: a\n");
        assert_eq!(read("", "intrepid").unwrap(), "intrepid");
        assert_eq!(read("", "other.txt").unwrap_err(), "other.txt: there is no such file");
    }

    #[test]
    fn a_list_in_xml_becomes_a_text() {
        let text = read(XML, "list.xml").unwrap();
        assert_eq!(text, "cards 32 a0 a1\nleft: a0 x\nall: a0 a1 x\n");
        let list = List::read(&text).unwrap();
        assert_eq!(list.partitions().collect::<Vec<_>>(), [("left", 32, 1), ("all", 64, 1)]);
        for (text, end) in [
            ("<a/>", "(there is no `Partition` or `Block` in it)"),
            ("<Partition/>", "(a partition without a name)"),
            ("<Partition name='a'", ""),
        ] {
            assert!(read(text, "list.xml").unwrap_err().ends_with(end), "{text}");
        }
    }
}
