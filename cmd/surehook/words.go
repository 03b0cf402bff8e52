package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// arguments accepts exactly the arguments that the use line of the command names.
func arguments(c *cobra.Command, args []string) error {
	words := strings.Fields(c.Use)[1:]
	switch {
	case len(args) == len(words):
		return nil
	case len(words) > 0:
		return usagef("say %s: surehook %s", strings.Join(words, " and "), strings.TrimPrefix(c.UseLine(), "surehook "))
	case c.HasSubCommands():
		text := fmt.Sprintf("there is no command %q", args[0])
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			text += fmt.Sprintf(" (%s?)", strings.Join(near, ", "))
		}
		return usagef("%s: %s --help lists the commands", text, c.CommandPath())
	}
	return usagef("%s takes no argument, and %q is one", c.CommandPath(), args[0])
}

// flagError puts an error of the flags into the words of this program.
func flagError(c *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		if name == "url" && strings.HasSuffix(c.Use, " URL") {
			return usagef("the URL is an argument: %s", c.UseLine())
		}
		if name == "url" {
			return usagef("%s has no --url; the address of the API is --api-url", c.CommandPath())
		}
		dashes := "--"
		if unknown.GetSpecifiedShortnames() != "" {
			dashes = "-"
		}
		return usagef("%s has no %s%s: %s --help lists the flags", c.CommandPath(), dashes, name, c.CommandPath())
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usagef("--%s needs a value", missing.GetFlag().Name)
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		f := wrong.GetFlag()
		return usagef("--%s is %q: say %s", f.Name, wrong.GetValue(), kindOf(f.Value.Type()))
	}
	if syntax, ok := errors.AsType[*pflag.InvalidSyntaxError](err); ok {
		return usagef("%s is no flag", syntax.GetSpecifiedFlag())
	}
	return usagef("%w", err)
}

// kindOf returns what a flag of a type of package pflag takes.
func kindOf(flagType string) string {
	switch flagType {
	case "bool":
		return "true or false"
	case "time":
		return moments
	case "duration":
		return "a duration such as 30s or 5m"
	case "uint16":
		return "a number from 0 to 65535"
	case "int", "intSlice":
		return "a whole number"
	case "float64":
		return "a number"
	}
	return "another value"
}

// excludes refuses two flags that contradict each other.
func excludes(c *cobra.Command, one string, others ...string) error {
	for _, other := range others {
		if c.Flags().Changed(one) && c.Flags().Changed(other) {
			return usagef("say --%s or --%s, not both", one, other)
		}
	}
	return nil
}

// plainly replaces the words of Go's libraries in the text of an error by words for people.
func plainly(err error, text string) string {
	replace := func(library error, plain string) { text = strings.ReplaceAll(text, library.Error(), plain) }
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		replace(e, "not valid JSON (byte "+strconv.FormatInt(e.Offset, 10)+")")
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		replace(e, strings.TrimSpace(e.Field+" must not be a JSON "+e.Value))
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		replace(e, e.Path+": "+e.Err.Error())
	}
	if e, ok := errors.AsType[*url.Error](err); ok && e.Timeout() {
		replace(e.Err, "no complete answer in time")
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		replace(e, "the host name "+e.Name+" has no address")
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		cause := e.Err
		if call, ok := errors.AsType[*os.SyscallError](cause); ok {
			cause = call.Err
		}
		replace(e, cause.Error())
	}
	return text
}
