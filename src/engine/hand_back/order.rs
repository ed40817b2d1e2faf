//! Drafts are kept in the order in which they were asked for, though each question has a thread of its own: an older one
//! is not put over a newer one, nor kept of what was written since.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::law::hand_back::tree::TreePath;

/// What was done last of each path, by the number of the question.
#[derive(Debug, Default)]
pub struct Order(Mutex<BTreeMap<(String, TreePath), u64>>);

impl Order {
    /// Does what was asked as the `number`th about a child's path, after what is being done about any; none if
    /// something that was asked later is done already.
    pub fn next<T, E>(
        &self,
        (child, path): (&str, &TreePath),
        number: u64,
        what: impl FnOnce() -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        let mut done = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = done.entry((child.to_owned(), path.clone())).or_default();
        if *last > number {
            return None;
        }
        let did = what();
        if did.is_ok() {
            *last = number;
        }
        Some(did)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_question_is_passed_by_and_one_that_failed_holds_nothing_up() {
        let (order, path) = (Order::default(), TreePath::new("a").unwrap());
        let of = ("child", &path);
        assert_eq!(order.next(of, 2, || Err::<(), _>("full")), Some(Err("full")));
        assert_eq!(order.next(of, 1, || Ok::<_, ()>(1)), Some(Ok(1)));
        assert_eq!(order.next(of, 3, || Ok::<_, ()>(3)), Some(Ok(3)));
        assert_eq!(order.next(of, 2, || Ok::<_, ()>(2)), None);
        assert_eq!(order.next(("other", &path), 2, || Ok::<_, ()>(2)), Some(Ok(2)));
    }
}
