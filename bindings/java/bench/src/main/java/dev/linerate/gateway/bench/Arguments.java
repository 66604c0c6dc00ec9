package dev.linerate.gateway.bench;

import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;

/** The options of a command line, most of which have a value: {@code --data DIR}. */
final class Arguments {
    private final Iterator<String> rest;
    private String option;

    private Arguments(String[] args) {
        rest = List.of(args).iterator();
    }

    /** Takes an option of a program, and its value from the arguments. */
    @FunctionalInterface
    interface Options {
        /** @throws IllegalArgumentException if the option or its value is wrong */
        void take(String option, Arguments arguments);
    }

    /** Hands over each option, then checks them together. Ends the program, with a message and its usage, if one is wrong. */
    static void parse(String[] args, String usage, Options options, Runnable check) {
        try {
            Arguments arguments = new Arguments(args);
            while (arguments.rest.hasNext()) {
                arguments.option = arguments.rest.next();
                options.take(arguments.option, arguments);
            }
            check.run();
        } catch (IllegalArgumentException e) {
            System.err.print("error: " + e.getMessage() + "\n" + usage);
            System.exit(2);
        }
    }

    /** The value of the option. */
    String value() {
        if (!rest.hasNext()) {
            throw new IllegalArgumentException(option + " needs a value");
        }
        return rest.next();
    }

    Path path() {
        return Path.of(value());
    }

    /** A number above 0. */
    int number() {
        String value = value();
        if (!value.matches("[1-9][0-9]{0,8}")) {
            throw new IllegalArgumentException(option + " takes a number above 0, not " + value);
        }
        return Integer.parseInt(value);
    }

    /** The error of an option that the program does not have. */
    IllegalArgumentException unknown() {
        return new IllegalArgumentException("unknown argument: " + option);
    }

    static void require(Object value, String option) {
        if (value == null) {
            throw new IllegalArgumentException(option + " is missing");
        }
    }
}
