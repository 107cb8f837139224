//! Values as PostgreSQL sends and takes them.

use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::failure;
use crate::{Error, Value};

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(number) if *ty == Type::INT4 => i32::try_from(*number)?.to_sql(ty, out),
            Self::Int(number) => number.to_sql(ty, out),
            Self::Text(text) => text.to_sql(ty, out),
            Self::Bytes(bytes) => bytes.to_sql(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        [Type::INT4, Type::INT8, Type::TEXT, Type::VARCHAR, Type::BYTEA].contains(ty)
    }

    to_sql_checked!();
}

impl<'r> FromSql<'r> for Value<'r> {
    fn from_sql(ty: &Type, raw: &'r [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(match *ty {
            Type::INT8 => i64::from_sql(ty, raw)?.into(),
            Type::INT4 => i64::from(i32::from_sql(ty, raw)?).into(),
            Type::BOOL => bool::from_sql(ty, raw)?.into(),
            Type::BYTEA => raw.into(),
            _ => <&str>::from_sql(ty, raw)?.into(),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(ty: &Type) -> bool {
        matches!(*ty, Type::INT8 | Type::INT4 | Type::BOOL | Type::BYTEA)
            || <&str as FromSql<'_>>::accepts(ty)
    }
}

/// A column of a row.
pub(crate) fn value(row: &tokio_postgres::Row, column: usize) -> Result<Value<'_>, Error> {
    row.try_get(column).map_err(failure)
}

/// All columns of a row, to be kept.
pub(crate) fn values(row: &tokio_postgres::Row) -> Result<Vec<Value<'static>>, Error> {
    (0..row.len()).map(|column| value(row, column).map(Value::into_owned)).collect()
}
