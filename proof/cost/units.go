package cost

import "surehook.example/surehook/internal/memory/table"

// Item is an item in the types of the SDK.
type Item = table.Item

// Sizes of one unit, and the factor of a transaction: a prepare and a commit. The rules are silent about
// index rows in a transaction. Here the rows count twice, the more expensive reading.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
const (
	writeUnitBytes = 1 << 10
	readUnitBytes  = 4 << 10
	transactional  = 2
)

// Footprint is what the price of a write depends on: the bytes of an item, and its row in each index.
// The zero value is that of no item.
type Footprint struct {
	bytes int
	rows  []row
}

// row is that of an index; the zero value is none.
type row struct {
	hash, sort string
	bytes      int
}

// FootprintOf returns the footprint of the item; nil: no item.
func FootprintOf(s table.Schema, item Item) Footprint {
	f := Footprint{bytes: table.ItemSize(item), rows: make([]row, len(s.Indexes))}
	for i, index := range s.Indexes {
		if projected := s.Row(index, item); projected != nil {
			f.rows[i] = row{word(item[index.Hash]), word(item[index.Sort]), table.ItemSize(projected)}
		}
	}
	return f
}

func (f Footprint) row(i int) row {
	if i < len(f.rows) {
		return f.rows[i]
	}
	return row{}
}

// WriteUnits returns the write units of one write. The larger item counts, with at least one
// unit. Index rows add none for an unchanged row, one write for a new or deleted
// row, and two for a changed key: a delete and a put.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes
func WriteUnits(before, after Footprint) float64 {
	units := ceil(max(before.bytes, after.bytes), writeUnitBytes)
	for i := range max(len(before.rows), len(after.rows)) {
		gone, coming := before.row(i), after.row(i)
		if gone == coming {
			continue
		}
		for _, changed := range []row{gone, coming} {
			if changed != (row{}) {
				units += ceil(changed.bytes, writeUnitBytes)
			}
		}
	}
	return units
}

// overheadBytes is added by DynamoDB to every stored item and every index row.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
const overheadBytes = 100

// Stored returns the stored bytes of the item, and of these the bytes outside of indexes:
// point-in-time recovery charges for the table alone.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html
func (f Footprint) Stored() (all, outside int) {
	if f.bytes == 0 {
		return 0, 0
	}
	outside = f.bytes + overheadBytes
	all = outside
	for _, r := range f.rows {
		if r != (row{}) {
			all += r.bytes + overheadBytes
		}
	}
	return all, outside
}

// RefusedUnits returns the write units of a write with a failed condition: the
// units of the stored item, at least one.
func RefusedUnits(there Footprint) float64 { return ceil(there.bytes, writeUnitBytes) }

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
