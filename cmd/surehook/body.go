package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// body returns the JSON of the body: --data, and then what flags and arguments set in it.
func (p *program) body(c *cobra.Command, o operation, args []string) ([]byte, error) {
	if !o.raw && len(o.body) == 0 {
		return nil, nil
	}
	fields := map[string]json.RawMessage{}
	if o.raw {
		data, _ := c.Flags().GetString("data")
		given, err := p.data("--data", data)
		if err != nil {
			return nil, err
		}
		if given != nil {
			if err := json.Unmarshal(given, &fields); err != nil {
				return nil, usagef("--data: want a JSON object: %w", err)
			}
		}
	}
	for _, b := range o.body {
		var value any
		var err error
		switch {
		case b.arg:
			value, args = args[0], args[1:]
		case !c.Flags().Changed(b.flag()):
			continue
		default:
			if value, err = p.value(b, c.Flags()); err != nil {
				return nil, err
			}
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, usagef("--%s: %w", b.flag(), err)
		}
		if err := setField(fields, b.name, encoded); err != nil {
			return nil, usagef("--%s: %w", b.flag(), err)
		}
	}
	if len(fields) == 0 && (o.method == patch || o.method == put) {
		return nil, usagef("say what to change: %s --help lists the flags, and --data takes the whole body", c.CommandPath())
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, usagef("write the body: %w", err)
	}
	return body, nil
}

// setField sets the field; "a.b" is the field b of the object a.
func setField(fields map[string]json.RawMessage, name string, value json.RawMessage) error {
	outer, inner, nested := strings.Cut(name, ".")
	if !nested {
		fields[name] = value
		return nil
	}
	object := map[string]json.RawMessage{}
	if given := fields[outer]; given != nil {
		if err := json.Unmarshal(given, &object); err != nil {
			return fmt.Errorf("%s of --data: want a JSON object: %w", outer, err)
		}
	}
	object[inner] = value
	encoded, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("write %s: %w", outer, err)
	}
	fields[outer] = encoded
	return nil
}

// unmarked returns the text of a file without the byte order mark that some editors put before it.
func unmarked(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

// secret reads the text of a file, or of standard input, without the line end. Nothing is a text
// only if the null device says so: whoever names an empty file believes that it sets something.
func (p *program) secret(o option, flags *pflag.FlagSet) (string, error) {
	name, _ := flags.GetString(o.flag())
	var content []byte
	var err error
	if name == "-" {
		content, err = io.ReadAll(p.In)
	} else {
		content, err = os.ReadFile(name) //nolint:gosec // the user names the file
	}
	if err != nil {
		return "", usagef("--%s: %w", o.flag(), err)
	}
	said := strings.TrimRight(string(unmarked(content)), "\r\n")
	if said == "" && name != os.DevNull {
		return "", usagef("--%s: %s is empty; %s removes the value", o.flag(), name, os.DevNull)
	}
	return said, nil
}

// value returns what the flag says, in its kind.
func (p *program) value(o option, flags *pflag.FlagSet) (any, error) {
	switch o.kind {
	case list:
		v, _ := flags.GetStringSlice(o.flag())
		return v, nil
	case number:
		v, _ := flags.GetFloat64(o.flag())
		return v, nil
	case numbers:
		v, _ := flags.GetIntSlice(o.flag())
		return v, nil
	case yes:
		v, _ := flags.GetBool(o.flag())
		return v, nil
	case file:
		return p.secret(o, flags)
	case object:
		given, _ := flags.GetString(o.flag())
		content, err := p.data("--"+o.flag(), given)
		if err == nil && content == nil {
			err = usagef("--%s: want JSON", o.flag())
		}
		return json.RawMessage(content), err
	case text, instant:
	}
	v, _ := flags.GetString(o.flag())
	return v, nil
}

// data returns JSON from the command line: the text itself, the content of @FILE, or - for
// standard input. Empty text is nil.
func (p *program) data(what, given string) ([]byte, error) {
	var content []byte
	var err error
	switch {
	case given == "":
		return nil, nil
	case given == "-":
		content, err = io.ReadAll(p.In)
	case strings.HasPrefix(given, "@"):
		content, err = os.ReadFile(given[1:])
	default:
		content = []byte(given)
	}
	if err != nil {
		return nil, usagef("%s: %w", what, err)
	}
	if content = unmarked(content); !json.Valid(content) {
		return nil, usagef("%s: want JSON, @FILE with JSON, or - for JSON on standard input", what)
	}
	return content, nil
}
