package shape

import (
	"encoding/base64"
	"math"
	"strings"
	"unicode/utf8"
)

// texts returns the arguments as texts, and pays for their size.
func (v *evaluation) texts(c *call, args []any) ([]string, *fault) {
	all := make([]string, len(args))
	for i, arg := range args {
		text, ok := arg.(string)
		if !ok {
			return nil, wrongAt(c.at, "%s needs strings, and has %s", c.name, typeOf(arg))
		}
		if f := v.spendText(len(text), c.at); f != nil {
			return nil, f
		}
		all[i] = text
	}
	return all, nil
}

func search(v *evaluation, c *call, args []any) (any, *fault) {
	all, f := v.texts(c, args)
	if f != nil {
		return nil, f
	}
	switch c.name {
	case "startsWith":
		return strings.HasPrefix(all[0], all[1]), nil
	case "endsWith":
		return strings.HasSuffix(all[0], all[1]), nil
	}
	return strings.Contains(all[0], all[1]), nil
}

func join(v *evaluation, c *call, args []any) (any, *fault) {
	list, ok := args[0].([]any)
	separator, isText := "", true
	if len(args) > 1 {
		separator, isText = args[1].(string)
	}
	if !ok || !isText {
		return nil, wrongAt(c.at, "join needs a list of strings, and a string between them")
	}
	return v.joined(list, separator, c.at)
}

func split(v *evaluation, c *call, args []any) (any, *fault) {
	all, f := v.texts(c, args)
	if f != nil {
		return nil, f
	}
	if f := v.spend(strings.Count(all[0], all[1]), c.at); f != nil {
		return nil, f
	}
	parts := strings.Split(all[0], all[1])
	list := make([]any, len(parts))
	for i, part := range parts {
		list[i] = part
	}
	return list, nil
}

func replace(v *evaluation, c *call, args []any) (any, *fault) {
	all, f := v.texts(c, args)
	if f != nil {
		return nil, f
	}
	if f := v.spendText(strings.Count(all[0], all[1])*(1+len(all[2])), c.at); f != nil {
		return nil, f
	}
	return strings.ReplaceAll(all[0], all[1], all[2]), nil
}

// substring returns the characters from the first index up to, but not including, the second, or
// to the end. An index beyond the end means the end.
func substring(v *evaluation, c *call, args []any) (any, *fault) {
	all, f := v.texts(c, args[:1])
	if f != nil {
		return nil, f
	}
	text := all[0]
	places := [2]int64{0, math.MaxInt64}
	for i, arg := range args[1:] {
		if arg, f = v.number(arg, c.at); f != nil {
			return nil, f
		}
		n, ok := arg.(int64)
		if !ok {
			return nil, wrongAt(c.at, "substring needs ints, and has %s", typeOf(arg))
		}
		places[i] = n
	}
	if places[0] < 0 || places[1] < places[0] {
		return nil, wrongAt(c.at, "substring needs places from 0, the smaller one first")
	}
	return text[byteAt(text, places[0]):byteAt(text, places[1])], nil
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

func changed(v *evaluation, c *call, args []any) (any, *fault) {
	all, f := v.texts(c, args)
	if f != nil {
		return nil, f
	}
	switch c.name {
	case "lowerAscii":
		return strings.Map(func(r rune) rune { return shifted(r, 'A', 'Z', 'a'-'A') }, all[0]), nil
	case "upperAscii":
		return strings.Map(func(r rune) rune { return shifted(r, 'a', 'z', 'A'-'a') }, all[0]), nil
	}
	return strings.TrimSpace(all[0]), nil
}

func shifted(r, first, last, by rune) rune {
	if r >= first && r <= last {
		return r + by
	}
	return r
}

func encodeBase64(v *evaluation, c *call, args []any) (any, *fault) {
	all, f := v.texts(c, args)
	if f != nil {
		return nil, f
	}
	return base64.StdEncoding.EncodeToString([]byte(all[0])), nil
}
