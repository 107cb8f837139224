//! The parameters of many executions of a statement, as one array for each parameter.

use tokio_postgres::Statement;
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked};

use crate::Value;

/// One parameter of many executions, as an array.
#[derive(Debug)]
pub(crate) struct Column<'a> {
    rows: Vec<&'a [Value<'static>]>,
    number: usize,
}

impl Column<'_> {
    fn values(&self) -> impl Iterator<Item = &Value<'static>> {
        self.rows.iter().map(|row| row.get(self.number).unwrap_or(&Value::Null))
    }
}

impl ToSql for Column<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        let unexpected = || Err("a parameter has the wrong type".into());
        match *ty {
            Type::INT8_ARRAY | Type::INT4_ARRAY => {
                let mut numbers = Vec::with_capacity(self.rows.len());
                for value in self.values() {
                    numbers.push(match value {
                        Value::Null => None,
                        Value::Int(number) => Some(*number),
                        Value::Text(_) | Value::Bytes(_) => return unexpected(),
                    });
                }
                if *ty == Type::INT8_ARRAY {
                    return numbers.to_sql(ty, out);
                }
                let short: Result<Vec<Option<i32>>, _> =
                    numbers.into_iter().map(|number| number.map(i32::try_from).transpose()).collect();
                short?.to_sql(ty, out)
            }
            Type::BYTEA_ARRAY => {
                let mut bytes = Vec::with_capacity(self.rows.len());
                for value in self.values() {
                    bytes.push(match value {
                        Value::Null => None,
                        Value::Bytes(bytes) => Some(bytes.as_ref()),
                        Value::Int(_) | Value::Text(_) => return unexpected(),
                    });
                }
                bytes.to_sql(ty, out)
            }
            _ => {
                let mut texts = Vec::with_capacity(self.rows.len());
                for value in self.values() {
                    texts.push(match value {
                        Value::Null => None,
                        Value::Text(text) => Some(text.as_ref()),
                        Value::Int(_) | Value::Bytes(_) => return unexpected(),
                    });
                }
                texts.to_sql(ty, out)
            }
        }
    }

    fn accepts(ty: &Type) -> bool {
        [Type::INT8_ARRAY, Type::INT4_ARRAY, Type::BYTEA_ARRAY, Type::TEXT_ARRAY].contains(ty)
    }

    to_sql_checked!();
}

pub(crate) fn columns<'a>(rows: &[&'a [Value<'static>]], statement: &Statement) -> Vec<Column<'a>> {
    (0..statement.params().len()).map(|number| Column { rows: rows.to_vec(), number }).collect()
}

/// The names of a statement's parameter types; nothing if there is none, or one that is not sent in arrays.
pub(crate) fn type_names(statement: &Statement) -> Option<Vec<&'static str>> {
    let name = |ty: &Type| match *ty {
        Type::INT8 => Some("int8"),
        Type::INT4 => Some("int4"),
        Type::BYTEA => Some("bytea"),
        Type::TEXT | Type::VARCHAR => Some("text"),
        _ => None,
    };
    let names: Option<Vec<_>> = statement.params().iter().map(name).collect();
    names.filter(|names| !names.is_empty())
}
