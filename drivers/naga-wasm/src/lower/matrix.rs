//! Products of matrices. Matrices are stored column by column.

use super::Lowerer;
use crate::ir::{Op, Operand};
use crate::layout::Shape;

impl Lowerer<'_, '_> {
    /// The product, if one side is a matrix and the other is no scalar. Otherwise it is componentwise.
    pub(crate) fn matrix_product(
        &mut self,
        shapes: (Shape, Shape),
        left: &[Operand],
        right: &[Operand],
    ) -> Option<Vec<Operand>> {
        match shapes {
            (Shape::Matrix { rows, .. }, Shape::Vector { .. }) => Some(self.matrix_vector(left, rows, right)),
            (Shape::Vector { size, .. }, Shape::Matrix { .. }) => {
                Some(right.chunks(size as usize).map(|column| self.dot(left, column)).collect())
            }
            (Shape::Matrix { rows, columns, .. }, Shape::Matrix { .. }) => {
                Some(right.chunks(columns as usize).flat_map(|column| self.matrix_vector(left, rows, column)).collect())
            }
            _ => None,
        }
    }

    fn matrix_vector(&mut self, matrix: &[Operand], rows: u32, vector: &[Operand]) -> Vec<Operand> {
        let rows = rows as usize;
        (0..rows)
            .map(|row| {
                let across: Vec<_> = matrix.iter().copied().skip(row).step_by(rows).collect();
                self.dot(&across, vector)
            })
            .collect()
    }

    /// The sum of the products, from the first component on.
    pub(crate) fn dot(&mut self, left: &[Operand], right: &[Operand]) -> Operand {
        let mut sum = None;
        for (&a, &b) in left.iter().zip(right) {
            let float = self.b.ty(a) == crate::ir::Ty::F32;
            let product = self.b.op(if float { Op::FMul } else { Op::Mul }, &[a, b]);
            sum = Some(match sum {
                None => product,
                Some(sum) => self.b.op(if float { Op::FAdd } else { Op::Add }, &[sum, product]),
            });
        }
        sum.unwrap_or(Operand::F32(0))
    }

    pub(crate) fn transpose(columns: u32, rows: u32, matrix: &[Operand]) -> Vec<Operand> {
        let (columns, rows) = (columns as usize, rows as usize);
        (0..rows)
            .flat_map(|row| (0..columns).filter_map(move |column| matrix.get(column * rows + row).copied()))
            .collect()
    }

    /// The determinant of a square matrix, by its first column.
    pub(crate) fn determinant(&mut self, size: usize, matrix: &[Operand]) -> Operand {
        if let [only] = *matrix {
            return only;
        }
        let mut sum = Operand::F32(0);
        for row in 0..size {
            let Some(&factor) = matrix.get(row) else { continue };
            let rest = without(size, matrix, row, 0);
            let minor = self.determinant(size - 1, &rest);
            let product = self.b.op(Op::FMul, &[factor, minor]);
            sum = match row {
                0 => product,
                _ => self.b.op(if row % 2 == 0 { Op::FAdd } else { Op::FSub }, &[sum, product]),
            };
        }
        sum
    }

    /// The inverse of a square matrix: its adjugate by its determinant.
    pub(crate) fn inverse(&mut self, size: usize, matrix: &[Operand]) -> Vec<Operand> {
        let determinant = self.determinant(size, matrix);
        let mut inverse = Vec::with_capacity(matrix.len());
        for column in 0..size {
            for row in 0..size {
                let rest = without(size, matrix, column, row);
                let minor = self.determinant(size - 1, &rest);
                let cofactor = if (row + column) % 2 == 0 { minor } else { self.b.op(Op::FNeg, &[minor]) };
                inverse.push(self.b.op(Op::FDiv, &[cofactor, determinant]));
            }
        }
        inverse
    }
}

/// A square matrix without a row and a column.
fn without(size: usize, matrix: &[Operand], row: usize, column: usize) -> Vec<Operand> {
    let columns = matrix.chunks(size).enumerate().filter(|&(at, _)| at != column);
    columns
        .flat_map(|(_, column)| column.iter().enumerate().filter(|&(at, _)| at != row).map(|(_, &value)| value))
        .collect()
}
