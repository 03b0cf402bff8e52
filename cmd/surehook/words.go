package main

import (
	"encoding/json"
	"errors"
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
		return usagef("there is no command %q%s: %s --help lists the commands", args[0], didYouMean(suggestions(c, args[0]), ""), c.CommandPath())
	}
	return usagef("%s takes no argument, and %q is one", c.CommandPath(), args[0])
}

// suggestions returns the commands of c whose names are close to name.
func suggestions(c *cobra.Command, name string) []string {
	c.SuggestionsMinimumDistance = min(max(1, len(name)/3), 2) // changed letters: short names are all close to each other
	return c.SuggestionsFor(name)
}

// didYouMean names at most three suggestions, each after the dashes; empty without any.
func didYouMean(near []string, dashes string) string {
	if len(near) == 0 {
		return ""
	}
	near = near[:min(len(near), 3)]
	return " (did you mean " + dashes + strings.Join(near, " or "+dashes) + "?)"
}

// nearFlags returns the flags of c whose names are close to name, by cobra's rule for commands.
func nearFlags(c *cobra.Command, name string) []string {
	rule := &cobra.Command{}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			rule.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	return suggestions(rule, name)
}

// flagError puts an error of the flags into the words of this program.
func flagError(c *cobra.Command, err error) error {
	if args := c.Flags().Args(); c.HasSubCommands() && len(args) > 0 { // the flag belongs to the command that is meant
		return arguments(c, args)
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		if name == "url" && strings.HasSuffix(c.Use, " URL") {
			return usagef("the URL is an argument: %s", c.UseLine())
		}
		if name == "url" {
			return usagef("%s has no --url; the address of the API is --api-url", c.CommandPath())
		}
		if unknown.GetSpecifiedShortnames() != "" {
			return usagef("%s has no -%s: %s --help lists the flags", c.CommandPath(), name, c.CommandPath())
		}
		return usagef("%s has no --%s%s: %s --help lists the flags", c.CommandPath(), name, didYouMean(nearFlags(c, name), "--"), c.CommandPath())
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usagef("--%s needs a value", missing.GetFlag().Name)
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		f := wrong.GetFlag()
		return usagef("--%s is %q: say %s", f.Name, wrong.GetValue(), kindOf(f.Value.Type()))
	}
	if syntax, ok := errors.AsType[*pflag.InvalidSyntaxError](err); ok {
		return usagef("%s is not a flag", syntax.GetSpecifiedFlag())
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
