//! Table cells in Arrow's memory format, from Parquet files and from data frames in Python.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_schema::{DataType, TimeUnit};
use meshwork::workload::table::Cell;

/// Limit up to which `f64` represents every whole number exactly.
const EXACT: i128 = 1 << 53;

pub fn readable(name: &str, kind: &DataType) -> Result<(), String> {
    let value = if let DataType::Dictionary(_, value) = kind { value } else { kind };
    let is_readable = value.is_integer()
        || matches!(
            value,
            DataType::Float32
                | DataType::Float64
                | DataType::Utf8
                | DataType::LargeUtf8
                | DataType::Utf8View
                | DataType::Boolean
                | DataType::Timestamp(..)
                | DataType::Date32
                | DataType::Date64
                | DataType::Duration(..)
                | DataType::Null
        );
    if is_readable {
        return Ok(());
    }
    Err(format!(
        "the column `{name}` holds {kind}, but must hold numbers, dates, lengths of time, flags or text"
    ))
}

/// Cell in the row `at` of a column. `None` if the cell is empty. Durations become seconds.
pub fn cell(column: &dyn Array, at: usize) -> Option<Cell<'_>> {
    if column.is_null(at) {
        return None;
    }
    let (second, milli, micro, nano) = (1.0, 1e3, 1e6, 1e9);
    let text = match column.data_type() {
        DataType::Int8 => return Some(whole::<Int8Type>(column, at)),
        DataType::Int16 => return Some(whole::<Int16Type>(column, at)),
        DataType::Int32 => return Some(whole::<Int32Type>(column, at)),
        DataType::Int64 => return Some(whole::<Int64Type>(column, at)),
        DataType::UInt8 => return Some(whole::<UInt8Type>(column, at)),
        DataType::UInt16 => return Some(whole::<UInt16Type>(column, at)),
        DataType::UInt32 => return Some(whole::<UInt32Type>(column, at)),
        DataType::UInt64 => return Some(whole::<UInt64Type>(column, at)),
        DataType::Float32 => {
            return Some(Cell::Number(column.as_primitive::<Float32Type>().value(at).into()));
        }
        DataType::Float64 => {
            return Some(Cell::Number(column.as_primitive::<Float64Type>().value(at)));
        }
        DataType::Date32 => {
            let days = column.as_primitive::<Date32Type>().value(at);
            return Some(Cell::Date(f64::from(days) * 86_400.0));
        }
        DataType::Date64 => return Some(Cell::Date(units::<Date64Type>(column, at) / milli)),
        DataType::Timestamp(unit, _) => {
            return Some(Cell::Date(match unit {
                TimeUnit::Second => units::<TimestampSecondType>(column, at) / second,
                TimeUnit::Millisecond => units::<TimestampMillisecondType>(column, at) / milli,
                TimeUnit::Microsecond => units::<TimestampMicrosecondType>(column, at) / micro,
                TimeUnit::Nanosecond => units::<TimestampNanosecondType>(column, at) / nano,
            }));
        }
        DataType::Duration(unit) => {
            return Some(Cell::Number(match unit {
                TimeUnit::Second => units::<DurationSecondType>(column, at) / second,
                TimeUnit::Millisecond => units::<DurationMillisecondType>(column, at) / milli,
                TimeUnit::Microsecond => units::<DurationMicrosecondType>(column, at) / micro,
                TimeUnit::Nanosecond => units::<DurationNanosecondType>(column, at) / nano,
            }));
        }
        DataType::Dictionary(..) => {
            let column = column.as_any_dictionary();
            let Some(Cell::Number(key)) = cell(column.keys(), at) else { return None };
            return cell(column.values().as_ref(), key as usize);
        }
        DataType::Boolean if column.as_boolean().value(at) => "true",
        DataType::Boolean => "false",
        DataType::Utf8 => column.as_string::<i32>().value(at),
        DataType::LargeUtf8 => column.as_string::<i64>().value(at),
        DataType::Utf8View => column.as_string_view().value(at),
        _ => return None,
    };
    (!text.is_empty()).then(|| Cell::Text(text.into()))
}

/// Converts a whole number in a column. A number that `f64` cannot hold exactly becomes a text.
fn whole<T: ArrowPrimitiveType<Native: Into<i128>>>(
    column: &dyn Array,
    at: usize,
) -> Cell<'static> {
    let whole: i128 = column.as_primitive::<T>().value(at).into();
    if whole.abs() <= EXACT {
        Cell::Number(whole as f64)
    } else {
        Cell::Text(whole.to_string().into())
    }
}

fn units<T: ArrowPrimitiveType<Native = i64>>(column: &dyn Array, at: usize) -> f64 {
    column.as_primitive::<T>().value(at) as f64
}
