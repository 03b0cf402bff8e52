package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// configuration is the configuration file. Its own settings apply if no context is in use.
type configuration struct {
	settings

	Context  string              `json:"context,omitempty"` // in use
	Contexts map[string]settings `json:"contexts,omitempty"`

	file string // path of the file, which need not exist
}

// contextName is the name of a context, which is also the name of the file with its key.
var contextName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// keyFolder is the folder with the keys of contexts, next to the configuration file.
const keyFolder = "keys"

// readConfig reads the configuration file. If none is named, it reads the one in the user's
// folder, if that exists.
func (p *program) readConfig() (configuration, error) {
	c := configuration{file: cmp.Or(p.flags.config, p.env(envConfig))}
	given := c.file != ""
	if !given {
		folder, err := p.Home()
		if err != nil {
			return c, nil //nolint:nilerr // without a home there is no default file
		}
		c.file = filepath.Join(folder, "surehook", "config.json")
	}
	text, err := os.ReadFile(c.file)
	if errors.Is(err, fs.ErrNotExist) && !given {
		return c, nil
	}
	if err != nil {
		return c, usagef("read the configuration: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(unmarked(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		if strings.Contains(err.Error(), `unknown field "key"`) {
			return c, usagef("%s: the file must not contain a key: say key_file or key_command", c.file)
		}
		return c, usagef("%s: %s; the fields are url, key_file, key_command, tenant, output, context and contexts", c.file, strings.TrimPrefix(plainly(err, err.Error()), "json: "))
	}
	return c, nil
}

// contextInUse returns the name of the context in use; empty for none.
func (p *program) contextInUse(c configuration) string {
	return cmp.Or(p.flags.context, p.env(envContext), c.Context)
}

// stored returns the settings of a context, or, if the name is empty, those of the file itself.
func (c configuration) stored(name string) (settings, error) {
	s := c.settings
	if name != "" {
		var err error
		if s, err = c.find(name); err != nil {
			return s, err
		}
	}
	if s.KeyFile != "" && s.KeyCommand != nil {
		return s, usagef("%s: say key_file or key_command, not both", c.file)
	}
	if s.KeyFile != "" && !filepath.IsAbs(s.KeyFile) { // a relative path is relative to the configuration file
		s.KeyFile = filepath.Join(filepath.Dir(c.file), s.KeyFile)
	}
	return s, nil
}

// find returns the context as the file has it.
func (c configuration) find(name string) (settings, error) {
	s, found := c.Contexts[name]
	if !found {
		known := "there is none"
		if len(c.Contexts) > 0 {
			known = "there is " + strings.Join(c.names(), ", ")
		}
		return s, usagef("no context has the name %q: %s; `surehook login` makes one", name, known)
	}
	return s, nil
}

// names returns the names of the contexts, sorted.
func (c configuration) names() []string { return slices.Sorted(maps.Keys(c.Contexts)) }

// store adds or replaces a context with its key, and makes it the context in use.
func (c *configuration) store(name string, s settings, key string) error {
	keys := filepath.Join(filepath.Dir(c.file), keyFolder)
	if err := os.MkdirAll(keys, 0o700); err != nil {
		return usagef("store the key: %w", err)
	}
	if err := replaceFile(filepath.Join(keys, name), []byte(key+"\n")); err != nil {
		return usagef("store the key: %w", err)
	}
	if c.Contexts == nil {
		c.Contexts = map[string]settings{}
	}
	c.Contexts[name] = settings{URL: s.URL, Tenant: s.Tenant, KeyFile: filepath.ToSlash(filepath.Join(keyFolder, name))}
	c.Context = name
	return c.save()
}

// remove removes a context, and its key if login stored it.
func (c *configuration) remove(name string) error {
	s, err := c.find(name)
	if err != nil {
		return err
	}
	delete(c.Contexts, name)
	if c.Context == name {
		c.Context = ""
	}
	if err := c.save(); err != nil {
		return err
	}
	if s.KeyFile != keyFolder+"/"+name {
		return nil
	}
	if err := os.Remove(filepath.Join(filepath.Dir(c.file), keyFolder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usagef("remove the key: %w", err)
	}
	return nil
}

func (c *configuration) save() error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	if err := replaceFile(c.file, append(text, '\n')); err != nil {
		return usagef("write the configuration: %w", err)
	}
	return nil
}

// replaceFile replaces a file that only its owner can read, in one step, so that a crash leaves
// either the old or the new content.
func replaceFile(name string, content []byte) error {
	next, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	_, err = next.Write(content)
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), name)
	}
	if err != nil {
		_ = os.Remove(next.Name())
	}
	return err
}
