package shape

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// maxText is the size of a text made by a function, in bytes.
const maxText = 1024 << 10

// text is a library of functions on texts, named as those of cel-go's own library, which
// allocates its results before their cost is known.
type text struct{}

// CompileOptions declares the functions.
func (text) CompileOptions() []cel.EnvOption {
	str, list, number := cel.StringType, cel.ListType(cel.StringType), cel.IntType
	return []cel.EnvOption{
		cel.Function("lowerAscii", cel.MemberOverload("text_lower", []*cel.Type{str}, str, unary(strings.ToLower))),
		cel.Function("upperAscii", cel.MemberOverload("text_upper", []*cel.Type{str}, str, unary(strings.ToUpper))),
		cel.Function("trim", cel.MemberOverload("text_trim", []*cel.Type{str}, str, unary(strings.TrimSpace))),
		cel.Function("replace", cel.MemberOverload("text_replace", []*cel.Type{str, str, str}, str, cel.FunctionBinding(replace))),
		cel.Function("split", cel.MemberOverload("text_split", []*cel.Type{str, str}, list, cel.BinaryBinding(split))),
		cel.Function("join", cel.MemberOverload("text_join", []*cel.Type{list, str}, str, cel.BinaryBinding(join))),
		cel.Function("substring", cel.MemberOverload("text_substring", []*cel.Type{str, number, number}, str, cel.FunctionBinding(substring))),
		cel.Function("json", cel.Overload("text_json", []*cel.Type{cel.DynType}, str, cel.UnaryBinding(toJSON))),
	}
}

// ProgramOptions returns none.
func (text) ProgramOptions() []cel.ProgramOption { return nil }

// unary returns the binding of a function whose result is about as long as its argument.
func unary(f func(string) string) cel.OverloadOpt {
	return cel.UnaryBinding(func(value ref.Val) ref.Val { return types.String(f(stringOf(value))) })
}

func replace(args ...ref.Val) ref.Val {
	s, from, to := stringOf(args[0]), stringOf(args[1]), stringOf(args[2])
	if size := len(s) + strings.Count(s, from)*len(to); size > maxText {
		return tooLong("replace")
	}
	return types.String(strings.ReplaceAll(s, from, to))
}

func split(value, separator ref.Val) ref.Val {
	s, sep := stringOf(value), stringOf(separator)
	if strings.Count(s, sep) > maxEntries {
		return tooLong("split")
	}
	return types.DefaultTypeAdapter.NativeToValue(strings.Split(s, sep))
}

func join(value, separator ref.Val) ref.Val {
	list, ok := value.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(value)
	}
	var b strings.Builder
	for it, i := list.Iterator(), 0; it.HasNext() == types.True; i++ {
		part, ok := it.Next().(types.String)
		if !ok {
			return types.NewErr("join: the list must have strings only")
		}
		if i > 0 {
			b.WriteString(stringOf(separator))
		}
		b.WriteString(string(part))
		if b.Len() > maxText || i > maxEntries {
			return tooLong("join")
		}
	}
	return types.String(b.String())
}

// substring returns the characters from the first to before the second place. Places
// beyond the end are at the end.
func substring(args ...ref.Val) ref.Val {
	s := stringOf(args[0])
	from, okFrom := args[1].(types.Int)
	to, okTo := args[2].(types.Int)
	if !okFrom || !okTo || from < 0 || to < from {
		return types.NewErr("substring: the places must be 0 or more, the smaller one first")
	}
	place := func(n types.Int) int {
		if int64(n) >= int64(utf8.RuneCountInString(s)) {
			return len(s)
		}
		at := 0
		for range int64(n) {
			_, size := utf8.DecodeRuneInString(s[at:])
			at += size
		}
		return at
	}
	return types.String(s[place(from):place(to)])
}

func toJSON(value ref.Val) ref.Val {
	text, err := encode(value)
	if err != nil {
		return types.NewErr("json: %s", err)
	}
	return types.String(text)
}

func stringOf(value ref.Val) string {
	s, _ := value.(types.String)
	return string(s)
}

func tooLong(function string) ref.Val {
	return types.NewErr("%s", fmt.Sprintf("%s: the result has more than %d bytes or %d parts", function, maxText, maxEntries))
}
