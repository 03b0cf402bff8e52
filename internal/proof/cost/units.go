package cost

import "reflect"

// Sizes that one unit pays for, and what a transaction multiplies by.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
const (
	writeUnitBytes = 1 << 10
	readUnitBytes  = 4 << 10
	transactional  = 2
)

// Index is an index that projects keys only.
type Index struct{ Hash, Range string }

// Table says which attributes are keys.
type Table struct {
	Hash, Range string
	Indexes     []Index
}

// WriteUnits returns the write units of one write that turns the item before
// into the item after; nil stands for no item. They are those of the larger of
// the two, at least one, and those of the index rows: none for a row that stays as it is, one
// write for a row that comes or goes, and two for one whose key changes, which
// is deleted and put again.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes
func (t Table) WriteUnits(before, after Item) float64 {
	units := ceil(max(ItemSize(before), ItemSize(after)), writeUnitBytes)
	for _, index := range t.Indexes {
		units += indexUnits(t.row(index, before), t.row(index, after))
	}
	return units
}

// RefusedUnits returns the write units of a write whose condition did not hold:
// those of the item that is there, at least one.
func (t Table) RefusedUnits(there Item) float64 { return ceil(ItemSize(there), writeUnitBytes) }

// TransactUnits is WriteUnits in a transaction, which is prepared and
// committed. The rules do not say whether the index rows count twice as well;
// they do here, because that is the more expensive reading.
func (t Table) TransactUnits(before, after Item) float64 {
	return transactional * t.WriteUnits(before, after)
}

func indexUnits(before, after Item) float64 {
	switch {
	case before == nil && after == nil, reflect.DeepEqual(before, after):
		return 0
	case before == nil:
		return ceil(ItemSize(after), writeUnitBytes)
	case after == nil:
		return ceil(ItemSize(before), writeUnitBytes)
	}
	return ceil(ItemSize(before), writeUnitBytes) + ceil(ItemSize(after), writeUnitBytes)
}

// row returns what the index has of the item; nil if that lacks a key of the index.
func (t Table) row(index Index, item Item) Item {
	if item[index.Hash] == nil || item[index.Range] == nil {
		return nil
	}
	row := make(Item)
	for _, name := range []string{t.Hash, t.Range, index.Hash, index.Range} {
		row[name] = item[name]
	}
	return row
}

// ReadUnits returns the read units of reading so many bytes together: one item
// of GetItem or BatchGetItem, all items of one Query. What does not exist costs
// as much as what is small. A read that may be stale costs half.
func ReadUnits(bytes int, consistent bool) float64 {
	units := ceil(bytes, readUnitBytes)
	if consistent {
		return units
	}
	return units / 2
}

// ceil returns how many units pay for so many bytes, at least one.
func ceil(bytes, unit int) float64 { return float64(max(1, (bytes+unit-1)/unit)) }
