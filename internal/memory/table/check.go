package table

import (
	"slices"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Limits of DynamoDB.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
const (
	maxItemBytes       = 400 << 10
	maxHashBytes       = 2048
	maxSortBytes       = 1024
	maxPageBytes       = 1 << 20
	maxExpressionBytes = 4 << 10
	maxNesting         = 32
	maxNameBytes       = 64 << 10
	maxBatchKeys       = 100
	maxBatchBytes      = 16 << 20
	maxBatchWrites     = 25
	maxTransaction     = 100
	maxTransactBytes   = 4 << 20
)

// checkItem returns an error for an item that DynamoDB refuses.
func (t *Table) checkItem(item Item) error {
	if _, err := t.keyOf(item); err != nil {
		return err
	}
	for name, v := range item {
		if name == "" || len(name) > maxNameBytes || !utf8.ValidString(name) {
			return invalid("an attribute's name has 1 to %d bytes of UTF-8: %q", maxNameBytes, name)
		}
		if err := checkValue(v, 1); err != nil {
			return err
		}
	}
	for _, index := range t.schema.Indexes {
		if err := checkIndexKey(item, index.Hash, maxHashBytes); err != nil {
			return err
		}
		if err := checkIndexKey(item, index.Sort, maxSortBytes); err != nil {
			return err
		}
	}
	if size := ItemSize(item); size > maxItemBytes {
		return invalid("Item size has exceeded the maximum allowed size")
	}
	return nil
}

func checkIndexKey(item Item, name string, most int) error {
	if item[name] == nil {
		return nil
	}
	_, err := keyText(item, name, most)
	return err
}

func checkValue(v types.AttributeValue, depth int) error {
	if depth > maxNesting {
		return invalid("Nesting Levels have exceeded supported limits")
	}
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return checkText(v.Value)
	case *types.AttributeValueMemberB, *types.AttributeValueMemberBOOL:
		return nil
	case nil:
		return invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	case *types.AttributeValueMemberN:
		return checkNumber(v.Value)
	case *types.AttributeValueMemberL:
		for _, e := range v.Value {
			if err := checkValue(e, depth+1); err != nil {
				return err
			}
		}
		return nil
	case *types.AttributeValueMemberM:
		for name, e := range v.Value {
			if err := checkText(name); err != nil {
				return err
			}
			if err := checkValue(e, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if set, ok := elements(v); ok {
		return checkSet(set)
	}
	return invalid("this table does not support values of type %T", v)
}

// checkText returns an error for a text that no request can carry as it is.
func checkText(text string) error {
	if !utf8.ValidString(text) {
		return invalid("a string is not UTF-8: %q", text)
	}
	return nil
}

func checkSet(set setOf) error {
	if len(set.all) == 0 {
		return invalid("One or more parameter values were invalid: An %s set may not be empty", set.kind)
	}
	seen := make(map[string]bool, len(set.all))
	for _, e := range set.all {
		if set.kind == "N" {
			if err := checkNumber(e); err != nil {
				return err
			}
		} else if err := checkText(e); err != nil {
			return err
		}
		if seen[e] {
			return invalid("One or more parameter values were invalid: Input collection %q contains duplicates", set.all)
		}
		seen[e] = true
	}
	return nil
}

// keyOf returns the primary key of an item.
func (t *Table) keyOf(item Item) (Key, error) {
	hash, err := keyText(item, t.schema.Hash, maxHashBytes)
	if err != nil {
		return Key{}, err
	}
	sort, err := keyText(item, t.schema.Sort, maxSortBytes)
	return Key{hash, sort}, err
}

// exactKey returns the primary key from attributes without others.
func (t *Table) exactKey(attributes Item) (Key, error) {
	if len(attributes) != 2 {
		return Key{}, invalid("The provided key element does not match the schema")
	}
	return t.keyOf(attributes)
}

func keyText(item Item, name string, most int) (string, error) {
	return keyValue(item[name], name, most)
}

func keyValue(value types.AttributeValue, name string, most int) (string, error) {
	v, ok := value.(*types.AttributeValueMemberS)
	switch {
	case !ok:
		return "", invalid("One or more parameter values were invalid: Missing the key %s in the item, or another type", name)
	case v.Value == "":
		return "", invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: %s", name)
	case len(v.Value) > most:
		return "", invalid("One or more parameter values were invalid: Size of the key %s has exceeded the maximum size limit of %d bytes", name, most)
	}
	return v.Value, checkText(v.Value)
}

func duplicated(keys []Key) bool {
	seen := make(map[Key]bool, len(keys))
	return slices.ContainsFunc(keys, func(k Key) bool {
		again := seen[k]
		seen[k] = true
		return again
	})
}
