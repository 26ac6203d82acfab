"""Which axes of stages are which of the axes of the kernel that computes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..te.expr import IterVar
from ..te.linear import Linear
from ..te.tensor import Extent, Operation
from .facts import Kind, StageFacts, extent_of, is_static, size_of

__all__ = ["Labels"]


def _is_same(one: Extent, other: Extent) -> bool:
    return one == other if isinstance(one, int) and isinstance(other, int) else one is other


def _row_major(index: Linear | None, labels: Mapping[int, int]) -> tuple[int, ...] | None:
    """The labels of the axes that an index counts in row-major order."""
    if index is None or index.constant or not index.terms or any(key not in labels for key in index.terms):
        return None
    found, size = list[int](), 1
    for axis, count in sorted(index.terms.values(), key=lambda term: (term[1], labels[id(term[0])] * -1)):
        if count != size or axis.dom is None or axis.dom.min or not isinstance(axis.dom.extent, int):
            return None
        size *= int(axis.dom.extent)
        found.insert(0, labels[id(axis)])
    return tuple(found)


class Labels:
    """Which axes of stages are which of the root's, as it grows by stages that its members read.

    Columns are numbered from the number of the root's axes on where the root has none of them.
    """

    def __init__(self, root: StageFacts) -> None:
        self.root = root
        self.members: list[StageFacts] = []
        self.labels: dict[Operation, tuple[int, ...]] = {}
        self.reduced: dict[Operation, tuple[int, ...]] = {}
        self.columns: tuple[int, ...] | None = None
        self.root_columns: tuple[int, ...] = ()
        self.rows: tuple[int, ...] = ()
        self._column_labels: tuple[int, ...] = ()
        places = tuple(range(len(root.spatial)))
        self.labels[root.op] = places
        self.is_possible: bool = root.kind in (Kind.MAP, Kind.REDUCTION) and not root.is_empty
        if root.kind == Kind.REDUCTION and self.is_possible:
            self.is_possible = self._take_columns(root, places)

    def _take_columns(self, stage: StageFacts, labels: tuple[int, ...]) -> bool:
        """The reduction axes of a stage whose own axes are so labelled, as columns."""
        if not is_static(stage.reduced) or any(axis.dom is None or axis.dom.min for axis in stage.reduced):
            return False
        extents = tuple(extent_of(axis.dom.extent) for axis in stage.reduced if axis.dom)
        root_axes = self.root.spatial
        places = range(len(root_axes))
        labels = tuple(label for label in labels if label >= 0)
        if self.columns is None:
            others = tuple(place for place in places if place not in labels)
            if not others:
                self.columns, self.rows = extents, tuple(places)
                self._column_labels = tuple(range(len(root_axes), len(root_axes) + len(extents)))
            else:
                own = [root_axes[place] for place in others]
                if not is_static(own) or tuple(extent_of(axis.dom.extent) for axis in own if axis.dom) != extents:
                    return False
                self.columns, self.rows, self.root_columns = extents, tuple(sorted(labels)), others
                self._column_labels = others
        if extents != self.columns or sorted(labels) != sorted(self.rows):
            return False
        self.reduced[stage.op] = self._column_labels
        return True

    def add(self, stage: StageFacts) -> None:
        labels = self.labels_by_readers(stage)
        if labels is None or stage.is_empty:
            return
        if stage.kind == Kind.REDUCTION:
            if not self._take_columns(stage, labels):
                return
        elif stage.op.num_outputs > 1:
            return
        self.labels[stage.op] = labels
        self.members.append(stage)

    def labels_by_readers(self, stage: StageFacts) -> tuple[int, ...] | None:
        """The labels of a stage's axes, where all that read it agree, each at axes alone, which are whole."""
        found: tuple[int, ...] | None = None
        for reader in stage.readers:
            known = self._axis_labels(reader)
            for access in reader.reads_of(stage.op):
                labels: list[int] = []
                for place, axis in enumerate(access.axes):
                    label = known.get(id(axis)) if axis is not None else None
                    own = stage.spatial[place].dom
                    if label is None and own is not None and isinstance(own.extent, int) and own.extent == 1:
                        # An axis of one element, as reductions that keep their axes have.
                        labels.append(-1 - place)
                        continue
                    if label is None or axis is None or axis.dom is None or own is None or axis.dom.min:
                        return None
                    dom = self.root.spatial[label].dom if reader.is_in_tiles else axis.dom
                    if dom is None or not stage.is_in_tiles and not _is_same(dom.extent, own.extent):
                        return None
                    labels.append(label)
                if len(set(labels)) != len(labels) or (found is not None and tuple(labels) != found):
                    return None
                found = tuple(labels)
        return found

    def several_by_readers(self, stage: StageFacts) -> tuple[tuple[int, ...], ...] | None:
        """The root's axes that each of a stage's axes counts in row-major order. None where that is not all of them in
        their order, or where those that read the stage differ."""
        found: tuple[tuple[int, ...], ...] | None = None
        for reader in stage.readers:
            known = self._axis_labels(reader)
            for access in reader.reads_of(stage.op):
                some: list[tuple[int, ...]] = []
                for index, own in zip(access.indices, stage.spatial):
                    labels = _row_major(index, known)
                    if labels is None or size_of([self.root.spatial[one] for one in labels]) != size_of([own]):
                        return None
                    some.append(labels)
                flat = [label for labels in some for label in labels]
                if flat != list(range(len(self.root.spatial))) or found is not None and tuple(some) != found:
                    return None
                found = tuple(some)
        return found

    def _axis_labels(self, stage: StageFacts) -> dict[int, int]:
        axes: Sequence[IterVar] = (*stage.spatial, *stage.reduced)
        labels = (*self.labels[stage.op], *self.reduced.get(stage.op, ()))
        return {id(axis): label for axis, label in zip(axes, labels)}
