package cost

import (
	"reflect"

	"surehook.example/surehook/internal/table"
)

// Item is an item in the types of the SDK.
type Item = table.Item

// Sizes of one unit, and the factor of a transaction.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
const (
	writeUnitBytes = 1 << 10
	readUnitBytes  = 4 << 10
	transactional  = 2
)

// WriteUnits returns the write units of one write, from the item before to the
// item after; nil stands for no item. The larger item counts, with at least one
// unit. Index rows add none for an unchanged row, one write for a new or deleted
// row, and two for a changed key: a delete and a put.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes
func WriteUnits(s table.Schema, before, after Item) float64 {
	units := ceil(max(table.ItemSize(before), table.ItemSize(after)), writeUnitBytes)
	for _, index := range s.Indexes {
		units += indexUnits(s.Row(index, before), s.Row(index, after))
	}
	return units
}

// overheadBytes is added by DynamoDB to every stored item and every index row.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
const overheadBytes = 100

// Stored returns the stored bytes of the item, and of these the bytes outside of indexes:
// point-in-time recovery charges for the table alone.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html
func Stored(s table.Schema, item Item) (all, outside int) {
	if item == nil {
		return 0, 0
	}
	outside = table.ItemSize(item) + overheadBytes
	all = outside
	for _, index := range s.Indexes {
		if row := s.Row(index, item); row != nil {
			all += table.ItemSize(row) + overheadBytes
		}
	}
	return all, outside
}

// RefusedUnits returns the write units of a write with a failed condition: the
// units of the stored item, at least one.
func RefusedUnits(there Item) float64 { return ceil(table.ItemSize(there), writeUnitBytes) }

// TransactUnits is WriteUnits in a transaction, with a prepare and a commit. The
// rules are silent about index rows in a transaction. Here the rows count twice,
// the more expensive reading.
func TransactUnits(s table.Schema, before, after Item) float64 {
	return transactional * WriteUnits(s, before, after)
}

func indexUnits(before, after Item) float64 {
	switch {
	case before == nil && after == nil, reflect.DeepEqual(before, after):
		return 0
	case before == nil:
		return ceil(table.ItemSize(after), writeUnitBytes)
	case after == nil:
		return ceil(table.ItemSize(before), writeUnitBytes)
	}
	return ceil(table.ItemSize(before), writeUnitBytes) + ceil(table.ItemSize(after), writeUnitBytes)
}

// ReadUnits returns the read units of the bytes of one read: one item of GetItem
// or BatchGetItem, or all items of one Query. A missing item costs as much as a
// small item. An eventually consistent read costs half.
func ReadUnits(bytes int, consistent bool) float64 {
	units := ceil(bytes, readUnitBytes)
	if consistent {
		return units
	}
	return units / 2
}

// ceil returns the number of units for the bytes, at least one.
func ceil(bytes, unit int) float64 { return float64(max(1, (bytes+unit-1)/unit)) }
