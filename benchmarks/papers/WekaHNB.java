import java.io.BufferedReader;
import java.io.FileReader;
import java.util.Random;
import weka.classifiers.bayes.HNB;
import weka.core.Instances;

/** WEKA's HNB on the folds of WEKA's Experimenter: a line "row class probabilities" a tested row. */
public class WekaHNB {
    public static void main(String[] args) throws Exception {
        Instances data = new Instances(new BufferedReader(new FileReader(args[0])));
        int folds = Integer.parseInt(args[1]);
        // The first attribute is the row's number, by which a row is known after shuffling.
        data.setClassIndex(data.numAttributes() - 1);
        data.randomize(new Random(Integer.parseInt(args[2])));
        data.stratify(folds);
        for (int fold = 0; fold < folds; fold++) {
            Instances learned = data.trainCV(folds, fold);
            Instances tested = data.testCV(folds, fold);
            double[] rows = tested.attributeToDoubleArray(0);
            learned.deleteAttributeAt(0);
            tested.deleteAttributeAt(0);
            HNB model = new HNB();
            model.buildClassifier(learned);
            for (int i = 0; i < tested.numInstances(); i++) {
                StringBuilder line = new StringBuilder();
                line.append((int) rows[i]).append(' ');
                double[] shares = model.distributionForInstance(tested.instance(i));
                int best = weka.core.Utils.maxIndex(shares);
                line.append(tested.classAttribute().value(best).replace(' ', '_'));
                for (double share : shares) {
                    line.append(' ').append(share);
                }
                System.out.println(line);
            }
        }
    }
}
