// A server on Go's encoding/json: each line of its input as it reads it. See parsers.mjs for the form of its output.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
)

type message struct {
	Method *string `json:"method"`
	ID     any     `json:"id"`
	Params *struct {
		Name      *string `json:"name"`
		Arguments any     `json:"arguments"`
	} `json:"params"`
}

func spell(value any) string {
	switch value := value.(type) {
	case string:
		return "t" + hex.EncodeToString([]byte(value))
	case *string:
		if value != nil {
			return spell(*value)
		}
	case float64:
		return fmt.Sprintf("n%.17g", value)
	}
	return "-"
}

func namesOf(value any) []string {
	var names []string
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			names = append(append(names, hex.EncodeToString([]byte(name))), namesOf(member)...)
		}
	case []any:
		for _, item := range value {
			names = append(names, namesOf(item)...)
		}
	}
	sort.Strings(names)
	return names
}

func read(line string) string {
	var message message
	if json.Unmarshal([]byte(line), &message) != nil {
		return "error"
	}
	name, names := "-", []string{}
	if message.Params != nil {
		name, names = spell(message.Params.Name), namesOf(message.Params.Arguments)
	}
	return strings.Join([]string{spell(message.Method), spell(message.ID), name, strings.Join(names, ",")}, " ")
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		fmt.Println(read(line))
	}
}
