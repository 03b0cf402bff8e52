package strict

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

const (
	maxExpression = 4 << 10 // bytes of an expression
	maxVariables  = 2 << 20 // bytes of all names and values for expressions
	// wordPattern finds names, placeholders (#name) and values (:value).
	wordPattern = `[#:]?[A-Za-z_][A-Za-z0-9_]*|[#:][A-Za-z0-9_]+`
)

// expressions are the members that hold expressions.
func expressions() []string {
	return []string{"KeyConditionExpression", "FilterExpression", "ProjectionExpression", "ConditionExpression", "UpdateExpression"}
}

// keyword reports whether the word has a meaning in expressions. Some of these
// words are reserved as names, too.
func keyword(word string) bool {
	switch strings.ToUpper(word) {
	case "AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE",
		"ATTRIBUTE_EXISTS", "ATTRIBUTE_NOT_EXISTS", "ATTRIBUTE_TYPE", "BEGINS_WITH", "CONTAINS", "SIZE", "IF_NOT_EXISTS", "LIST_APPEND":
		return true
	}
	return false
}

// checkExpressions checks the expressions of an operation or of an action in a
// transaction: size, reserved words, and placeholders without a definition or
// without a use.
func (b *Rulebook) checkExpressions(in object) *refusal {
	names, values := in.object("ExpressionAttributeNames"), in.object("ExpressionAttributeValues")
	used, some := map[string]bool{}, false
	for _, member := range expressions() {
		if !in.has(member) {
			continue
		}
		some = true
		text := in.text(member)
		switch {
		case text == "":
			return invalid("Invalid %s: The expression can not be empty;", member)
		case len(text) > maxExpression:
			return invalid("Invalid %s: Expression size has exceeded the maximum allowed size;", member)
		}
		for _, word := range regexp.MustCompile(wordPattern).FindAllString(text, -1) {
			used[word] = true
			switch {
			case word[0] == '#' && !names.has(word):
				return invalid("Invalid %s: An expression attribute name used in the document path is not defined; attribute name: %s", member, word)
			case word[0] == ':' && !values.has(word):
				return invalid("Invalid %s: An expression attribute value used in expression is not defined; attribute value: %s", member, word)
			case !keyword(word) && b.reserved[strings.ToUpper(word)]:
				return invalid("Invalid %s: Attribute name is a reserved keyword; reserved keyword: %s", member, word)
			}
		}
	}
	if !some && (in.has("ExpressionAttributeNames") || in.has("ExpressionAttributeValues")) {
		return invalid("ExpressionAttributeNames and ExpressionAttributeValues can only be specified when using expressions")
	}
	return first(checkVariables("Names", names, used), checkVariables("Values", values, used), checkVariableSize(names, values), checkValues(values))
}

// checkVariables refuses placeholders without a use.
func checkVariables(kind string, defined object, used map[string]bool) *refusal {
	for _, name := range slices.Sorted(maps.Keys(defined)) {
		if !used[name] {
			return invalid("Value provided in ExpressionAttribute%s unused in expressions: keys: {%s}", kind, name)
		}
	}
	return nil
}

func checkVariableSize(names, values object) *refusal {
	size := itemSize(values)
	for placeholder := range names {
		size += len(placeholder) + len(names.text(placeholder))
	}
	if size > maxVariables {
		return invalid("The expression attribute map exceeds %d bytes: %d", maxVariables, size)
	}
	return nil
}
