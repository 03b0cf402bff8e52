package shape

import (
	"encoding/base64"
	"math"
	"strings"
	"unicode/utf8"
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

func search(v *evaluation, c *call, args []any) any {
	all := v.texts(c, args)
	switch c.name {
	case "startsWith":
		return strings.HasPrefix(all[0], all[1])
	case "endsWith":
		return strings.HasSuffix(all[0], all[1])
	}
	return strings.Contains(all[0], all[1])
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
	if character >= int64(len(text)) {
		return len(text)
	}
	at := 0
	for ; character > 0 && at < len(text); character-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

func changed(v *evaluation, c *call, args []any) any {
	text := v.texts(c, args)[0]
	switch c.name {
	case "lowerAscii":
		return strings.Map(func(r rune) rune { return shifted(r, 'A', 'Z', 'a'-'A') }, text)
	case "upperAscii":
		return strings.Map(func(r rune) rune { return shifted(r, 'a', 'z', 'A'-'a') }, text)
	}
	return strings.TrimSpace(text)
}

func shifted(r, first, last, by rune) rune {
	if r >= first && r <= last {
		return r + by
	}
	return r
}

func encodeBase64(v *evaluation, c *call, args []any) any {
	return base64.StdEncoding.EncodeToString([]byte(v.texts(c, args)[0]))
}
