package shape

import (
	"encoding/base64"
	"math"
	"strings"
)

// texts returns the arguments as texts, and pays for their size.
func (v *evaluation) texts(c *call, args []any) []string {
	all := make([]string, len(args))
	for i, arg := range args {
		text, ok := arg.(string)
		if !ok {
			panic(wrongAt(c.at, "%s needs strings, and has %s", c.name, typeOf(arg)))
		}
		v.spendText(len(text), c.at)
		all[i] = text
	}
	return all
}

// search returns a test of a text for a part.
func search(has func(text, part string) bool) operation {
	return func(v *evaluation, c *call, args []any) any {
		all := v.texts(c, args)
		return has(all[0], all[1])
	}
}

func join(v *evaluation, c *call, args []any) any {
	list, ok := args[0].([]any)
	separator, isText := "", true
	if len(args) > 1 {
		separator, isText = args[1].(string)
	}
	if !ok || !isText {
		panic(wrongAt(c.at, "join needs a list of strings, and a string between them"))
	}
	texts := make([]string, len(list))
	for i, part := range list {
		if texts[i], ok = part.(string); !ok {
			panic(wrongAt(c.at, "join needs strings, and element %d is %s", i, typeOf(part)))
		}
		v.spendText(len(texts[i])+len(separator), c.at)
	}
	return strings.Join(texts, separator)
}

func split(v *evaluation, c *call, args []any) any {
	all := v.texts(c, args)
	v.spend(strings.Count(all[0], all[1]), c.at)
	parts := strings.Split(all[0], all[1])
	list := make([]any, len(parts))
	for i, part := range parts {
		list[i] = part
	}
	return list
}

func replace(v *evaluation, c *call, args []any) any {
	all := v.texts(c, args)
	v.spendText(strings.Count(all[0], all[1])*(1+len(all[2])), c.at)
	return strings.ReplaceAll(all[0], all[1], all[2])
}

// substring returns the characters from the first index up to, but not including, the second, or
// to the end. An index beyond the end means the end.
func substring(v *evaluation, c *call, args []any) any {
	text := v.texts(c, args[:1])[0]
	places := [2]int64{0, math.MaxInt64}
	for i, arg := range args[1:] {
		arg = v.number(arg, c.at)
		n, ok := arg.(int64)
		if !ok {
			panic(wrongAt(c.at, "substring needs ints, and has %s", typeOf(arg)))
		}
		places[i] = n
	}
	if places[0] < 0 || places[1] < places[0] {
		panic(wrongAt(c.at, "substring needs places from 0, the smaller one first"))
	}
	return text[byteAt(text, places[0]):byteAt(text, places[1])]
}

// byteAt returns the byte offset of a character; the end for an index beyond the text.
func byteAt(text string, character int64) int {
	for at := range text {
		if character == 0 {
			return at
		}
		character--
	}
	return len(text)
}

// changed returns a method that makes another text of a text.
func changed(change func(text string) string) operation {
	return func(v *evaluation, c *call, args []any) any { return change(v.texts(c, args)[0]) }
}

// shifted returns a function that moves the 26 letters of ASCII from one letter on to those from another on.
func shifted(from, to rune) func(text string) string {
	return func(text string) string {
		return strings.Map(func(r rune) rune {
			if r >= from && r < from+26 {
				return r - from + to
			}
			return r
		}, text)
	}
}

func encodeBase64(v *evaluation, c *call, args []any) any {
	return base64.StdEncoding.EncodeToString([]byte(v.texts(c, args)[0]))
}
