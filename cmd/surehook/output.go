package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// column is a column of a table: the heading, and the path of the value in a row,
// such as "last.status". "uid|url" is the first of them with a value, and "rate%" a
// share of 0 to 1 in percent.
type column struct{ heading, path string }

// columns makes columns of pairs "HEADING=path".
func columns(pairs ...string) []column {
	all := make([]column, 0, len(pairs))
	for _, pair := range pairs {
		heading, path, _ := strings.Cut(pair, "=")
		all = append(all, column{heading, path})
	}
	return all
}

// writeRows prints JSON objects as a table.
func writeRows(out io.Writer, header []column, rows []json.RawMessage) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	cells := make([]string, len(header))
	for i, c := range header {
		cells[i] = c.heading
	}
	fmt.Fprintln(w, strings.Join(cells, "\t"))
	for _, row := range rows {
		fields, err := flatten(row)
		if err != nil {
			return err
		}
		for i, c := range header {
			cells[i] = cell(fields, c.path)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// writeFields prints one JSON object as a table of fields.
func writeFields(out io.Writer, object json.RawMessage) error {
	fields, err := flatten(object)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range fields {
		fmt.Fprintf(w, "%s\t%s\n", printable(f.path), f.value)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print the fields: %w", err)
	}
	return nil
}

// writeJSON prints the API's JSON with indents.
func writeJSON(out io.Writer, text json.RawMessage) error {
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return &badAnswerError{err}
	}
	b.WriteByte('\n')
	if _, err := out.Write(escaped(b.Bytes())); err != nil {
		return fmt.Errorf("print the answer: %w", err)
	}
	return nil
}

// escaped replaces what must not reach a terminal by escapes of JSON, which mean the same:
// control characters, those that turn the direction of the text, and all others that are
// not printable. Such a character can stand only inside a string.
func escaped(text []byte) []byte {
	escape := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
	if bytes.IndexFunc(text, escape) < 0 && utf8.Valid(text) {
		return text
	}
	b := make([]byte, 0, len(text))
	for _, r := range string(text) { // an invalid byte becomes the replacement character
		switch high, low := utf16.EncodeRune(r); {
		case !escape(r):
			b = utf8.AppendRune(b, r)
		case high != utf8.RuneError:
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return b
}

// badAnswerError is an answer that is no JSON document.
type badAnswerError struct{ err error }

func (e *badAnswerError) Error() string { return "read the answer of the API: " + e.err.Error() }
func (e *badAnswerError) Unwrap() error { return e.err }

// field is a value of a JSON object with its path.
type field struct{ path, value string }

// cell returns the value of the path of a column, or "-".
func cell(fields []field, path string) string {
	path, percent := strings.CutSuffix(path, "%")
	for name := range strings.SplitSeq(path, "|") {
		for _, f := range fields {
			if f.path != name || f.value == "" {
				continue
			}
			if share, err := strconv.ParseFloat(f.value, 64); percent && err == nil {
				return strconv.FormatFloat(math.Floor(share*1000)/10, 'f', -1, 64) + " %"
			}
			return f.value
		}
	}
	return "-"
}

// flatten returns the values of a JSON object in the order of the text. Nested
// names are joined with full stops; a list of plain values is one value.
func flatten(object json.RawMessage) ([]field, error) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber()
	var all []field
	if err := flattenValue(decoder, "", &all); err != nil {
		return nil, &badAnswerError{err}
	}
	return all, nil
}

var errEmpty = errors.New("the answer is empty")

func flattenValue(decoder *json.Decoder, path string, all *[]field) error {
	token, err := decoder.Token()
	if errors.Is(err, io.EOF) {
		return errEmpty
	}
	if err != nil {
		return err //nolint:wrapcheck // flatten wraps the error
	}
	delimiter, nested := token.(json.Delim)
	if !nested {
		*all = append(*all, field{path, plain(token)})
		return nil
	}
	var list []string
	scalars := delimiter == '['
	begin := len(*all)
	for i := 0; decoder.More(); i++ {
		name := strconv.Itoa(i)
		if delimiter == '{' {
			key, err := decoder.Token()
			if err != nil {
				return err //nolint:wrapcheck // flatten wraps the error
			}
			name = plain(key)
		}
		before := len(*all)
		if err := flattenValue(decoder, join(path, name), all); err != nil {
			return err
		}
		if scalars = scalars && len(*all) == before+1 && (*all)[before].path == join(path, name); scalars {
			list = append(list, (*all)[before].value)
		}
	}
	if scalars {
		*all = append((*all)[:begin], field{path, strings.Join(list, ",")})
	}
	_, err = decoder.Token() // the closing delimiter
	return err               //nolint:wrapcheck // flatten wraps the error
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// plain returns a token as text for a person.
func plain(token json.Token) string {
	switch v := token.(type) {
	case nil:
		return ""
	case string:
		return strings.ReplaceAll(printable(v), "\n", `\n`)
	default:
		return fmt.Sprint(v)
	}
}

// printable replaces control characters: a receiver's answer must not steer the
// terminal of the reader. Line feeds stay.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
