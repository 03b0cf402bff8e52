package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// column is a column of a table: its heading, and the path of the value in a row, such as
// "last.status". "uid|url" is the first of the two that has a value, and "rate%" shows a share
// from 0 to 1 in percent.
type column struct {
	heading, path string
	free          bool // free text, which may be cut to fit a narrow terminal
	spare         bool // left out on a terminal without room for it, the last one first
}

// columns makes columns of pairs "HEADING=path", or "HEADING=~path" for free text, after "?" if it is
// left out where there is no room.
func columns(pairs ...string) []column {
	all := make([]column, 0, len(pairs))
	for _, pair := range pairs {
		heading, path, _ := strings.Cut(pair, "=")
		path, spare := strings.CutPrefix(path, "?")
		path, free := strings.CutPrefix(path, "~")
		all = append(all, column{heading, path, free, spare})
	}
	return all
}

// none is the cell of a missing value.
const none = "-"

// writeRows prints JSON objects as a table: times relative to now, numbers aligned to the right,
// and endpoints by their names. On a terminal, free text is cut to its width.
func (p *program) writeRows(out io.Writer, header []column, rows []json.RawMessage, names namer) error {
	t := table{columns: make([]tableColumn, len(header)), width: p.terminal(out), coloured: p.Colour && p.terminal(out) > 0}
	var named map[string]string
	if slices.ContainsFunc(header, column.ofEndpoint) {
		named = names(rows)
	}
	for i, c := range header {
		t.columns[i].cells, t.columns[i].spare = []string{c.heading}, c.spare
		if c.free {
			t.columns[i].least = max(leastText, len(c.heading))
		}
	}
	for _, row := range rows {
		fields, err := flatten(row)
		if err != nil {
			return err
		}
		for i, c := range header {
			f := pick(fields, c.path)
			text := cmp.Or(f.value, none)
			switch {
			case c.path == "changes":
				text = changed(row)
			case c.ofEndpoint():
				text = inWords(named, text)
				id, _, _ := strings.Cut(text, " (") // the host may be cut
				t.columns[i].least = max(t.columns[i].least, len(c.heading), len(id))
			case isTime(c.path):
				text = p.since(text)
			case strings.HasPrefix(c.path, "latency"):
				text = brief(text)
			}
			t.columns[i].add(text, f.number)
		}
	}
	return t.write(out)
}

// ofEndpoint reports whether the value may be the id of an endpoint, or a list of ids.
func (c column) ofEndpoint() bool {
	return c.path == "endpoint_id" || c.path == "target" || c.path == "endpoints"
}

// inWords returns a list of ids with names in place of those ids that have one.
func inWords(names map[string]string, list string) string {
	ids := strings.Split(list, ",")
	for i, id := range ids {
		ids[i] = cmp.Or(names[id], id)
	}
	return strings.Join(ids, ", ")
}

// isTime reports whether the API has times at the path.
func isTime(path string) bool {
	words := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '_' })
	return slices.Contains([]string{"at", "since", "until"}, words[len(words)-1])
}

// since returns a time relative to now, and any other text unchanged.
func (p *program) since(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return relative(at, p.Now())
}

// brief returns a duration with three digits at most, and any other text unchanged.
func brief(text string) string {
	d, err := time.ParseDuration(text)
	if err != nil {
		return text
	}
	for unit := time.Microsecond; unit <= time.Minute; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit).String()
		}
	}
	return d.Round(time.Minute).String()
}

// terminal returns the width in characters of the terminal behind out; 0 if it is not a terminal.
func (p *program) terminal(out io.Writer) int {
	if out != p.Out || p.Width == nil {
		return 0
	}
	return p.Width()
}

// maxChange limits the value of a change in a table, in characters.
const maxChange = 40

// changed returns what the audit record of a change changed, such as "headers, timeout: 10s →
// 5s".
func changed(row json.RawMessage) string {
	var record struct {
		Changes map[string]struct {
			Old json.RawMessage `json:"old"`
			New json.RawMessage `json:"new"`
		} `json:"changes"`
	}
	if json.Unmarshal(row, &record) != nil || len(record.Changes) == 0 {
		return none
	}
	var all []string
	added, removed := true, true
	for _, name := range slices.Sorted(maps.Keys(record.Changes)) {
		c := record.Changes[name]
		added, removed = added && c.Old == nil, removed && c.New == nil
		text := printable(name)
		before, plainBefore := scalar(c.Old)
		after, plainAfter := scalar(c.New)
		if plainBefore && plainAfter {
			text += ": " + cut(cmp.Or(before, none), maxChange) + " → " + cut(cmp.Or(after, none), maxChange)
		}
		all = append(all, text)
	}
	switch {
	case added:
		return "new"
	case removed:
		return "removed"
	}
	return strings.Join(all, ", ")
}

// scalar returns a value that is not an object: a text, a number, or a list of these.
func scalar(value json.RawMessage) (string, bool) {
	fields, err := flatten(value)
	if err != nil || len(fields) != 1 || fields[0].path != "" {
		return "", false
	}
	return fields[0].value, true
}

// writeFields prints one JSON object as a table of fields. Times are also shown relative to now.
func (p *program) writeFields(out io.Writer, object json.RawMessage) error {
	fields, err := flatten(object)
	if err != nil {
		return err
	}
	t := table{columns: make([]tableColumn, 2)}
	for _, f := range fields {
		text := f.value
		if when := p.since(text); isTime(f.path) && when != text {
			text += " (" + when + ")"
		}
		t.columns[0].add(printable(f.path), false)
		t.columns[1].add(text, false)
	}
	return t.write(out)
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

// badAnswerError is an answer that is not a JSON document.
type badAnswerError struct{ err error }

func (e *badAnswerError) Error() string { return "read the answer of the API: " + e.err.Error() }
func (e *badAnswerError) Unwrap() error { return e.err }

// decode reads an answer of the API into the value, or returns a badAnswerError.
func decode(answer json.RawMessage, into any) error {
	if err := json.Unmarshal(answer, into); err != nil {
		return &badAnswerError{err}
	}
	return nil
}

// field is a value of a JSON object with its path.
type field struct {
	path, value string
	number      bool
}

// find returns the field with the path, or none.
func find(fields []field, path string) field {
	i := slices.IndexFunc(fields, func(f field) bool { return f.path == path })
	if i < 0 {
		return field{}
	}
	return fields[i]
}

// pick returns the field of the path of a column, or none.
func pick(fields []field, path string) field {
	path, percent := strings.CutSuffix(path, "%")
	for name := range strings.SplitSeq(path, "|") {
		f := find(fields, name)
		if f.value == "" {
			continue
		}
		if share, err := strconv.ParseFloat(f.value, 64); percent && err == nil {
			f.value = strconv.FormatFloat(math.Floor(share*1000)/10, 'f', -1, 64) + " %"
		}
		return f
	}
	return field{}
}

// cell returns the value of the path of a column, or "-".
func cell(fields []field, path string) string { return cmp.Or(pick(fields, path).value, none) }

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
		return err
	}
	delimiter, nested := token.(json.Delim)
	if !nested {
		_, number := token.(json.Number)
		*all = append(*all, field{path, plain(token), number})
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
				return err
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
		*all = append((*all)[:begin], field{path: path, value: strings.Join(list, ",")})
	}
	_, err = decoder.Token() // the closing delimiter
	return err
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
