//! Built-in functions of square matrices of `f32`.

use crate::{
    error::{Result, defect},
    value::Scalar,
};

pub(crate) fn determinant(columns: &[Vec<Scalar>]) -> Result<f32> {
    let floats = columns.iter().map(|column| column.iter().map(|scalar| scalar.f32()).collect());
    Ok(by_minors(&floats.collect::<Result<Vec<Vec<f32>>>>()?))
}

/// By the first column.
fn by_minors(columns: &[Vec<f32>]) -> f32 {
    let Some((first, rest)) = columns.split_first() else { return 0.0 };
    if let [only] = first.as_slice() {
        return *only;
    }
    let mut sum = 0.0;
    for (row, factor) in first.iter().enumerate() {
        let minor: Vec<Vec<f32>> = rest
            .iter()
            .map(|column| column.iter().enumerate().filter(|(at, _)| *at != row).map(|(_, value)| *value).collect())
            .collect();
        let product = factor * by_minors(&minor);
        sum = if row == 0 {
            product
        } else if row % 2 == 0 {
            sum + product
        } else {
            sum - product
        };
    }
    sum
}

/// The inverse, by elimination in 64 bits, rounded once. Where there is none it is of numbers that are not finite.
#[allow(clippy::cast_possible_truncation, reason = "the one rounding of what was computed in 64 bits")]
pub(crate) fn inverse(columns: &[Vec<Scalar>]) -> Result<Vec<Vec<Scalar>>> {
    let size = columns.len();
    // Each column with one of the identity behind it. The same is done to both until the first is the identity.
    let mut both = Vec::with_capacity(size);
    for (at, column) in columns.iter().enumerate() {
        let left = column.iter().map(|scalar| scalar.f32().map(f64::from)).collect::<Result<Vec<_>>>()?;
        let right = (0..size).map(|other| if other == at { 1.0 } else { 0.0 });
        both.push(left.into_iter().chain(right).collect::<Vec<f64>>());
    }
    for row in 0..size {
        let at = |column: &Vec<f64>| column.get(row).copied().unwrap_or(0.0);
        let largest = both.iter().enumerate().skip(row).max_by(|(_, a), (_, b)| at(a).abs().total_cmp(&at(b).abs()));
        let largest = largest.map(|(largest, _)| largest).ok_or_else(|| defect("a matrix without columns"))?;
        both.swap(row, largest);
        let pivot = both.get(row).map(&at).unwrap_or_default();
        let scaled: Vec<f64> = both.get(row).into_iter().flatten().map(|value| value / pivot).collect();
        for (other, column) in both.iter_mut().enumerate() {
            let factor = at(column);
            if other == row {
                column.clone_from(&scaled);
            } else {
                column.iter_mut().zip(&scaled).for_each(|(value, scaled)| *value -= factor * scaled);
            }
        }
    }
    let right = |column: Vec<f64>| column.into_iter().skip(size).map(|value| Scalar::F32(value as f32)).collect();
    Ok(both.into_iter().map(right).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(columns: &[&[f32]]) -> Vec<Vec<Scalar>> {
        columns.iter().map(|column| column.iter().map(|value| Scalar::F32(*value)).collect()).collect()
    }

    #[test]
    fn a_matrix_times_its_inverse_is_the_identity() {
        let two = inverse(&matrix(&[&[4.0, 2.0], &[7.0, 6.0]])).unwrap();
        assert_eq!(two, matrix(&[&[0.6, -0.2], &[-0.7, 0.4]]));
        // The first pivot is 0, and the columns are those of a rotation and a scale.
        let three = inverse(&matrix(&[&[0.0, 2.0, 0.0], &[-2.0, 0.0, 0.0], &[0.0, 0.0, 4.0]])).unwrap();
        assert_eq!(three, matrix(&[&[0.0, -0.5, 0.0], &[0.5, 0.0, 0.0], &[0.0, 0.0, 0.25]]));
        let triangle =
            matrix(&[&[1.0, 0.0, 0.0, 0.0], &[2.0, 1.0, 0.0, 0.0], &[3.0, 2.0, 1.0, 0.0], &[4.0, 3.0, 2.0, 1.0]]);
        let want =
            matrix(&[&[1.0, 0.0, 0.0, 0.0], &[-2.0, 1.0, 0.0, 0.0], &[1.0, -2.0, 1.0, 0.0], &[0.0, 1.0, -2.0, 1.0]]);
        assert_eq!(inverse(&triangle).unwrap(), want);
    }

    #[test]
    fn a_matrix_without_an_inverse_has_one_that_is_not_finite() {
        let none = inverse(&matrix(&[&[1.0, 2.0], &[2.0, 4.0]])).unwrap();
        assert!(none.iter().flatten().any(|scalar| !scalar.f32().unwrap().is_finite()));
    }
}
